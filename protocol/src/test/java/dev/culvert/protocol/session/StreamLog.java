package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one side's application knows of a stream. Bodies are a pattern of stream, sender and position, checked as they arrive:
 * a byte lost, doubled or out of order is noticed at once.
 */
final class StreamLog {
    final int id;
    final List<Http2Headers> heads = new ArrayList<>();
    long writtenBytes;
    long sentBytes;
    long receivedBytes;
    int heldBytes;
    boolean stalled;
    boolean ended;
    boolean closed;
    @Nullable
    Http2Headers trailers;
    @Nullable
    StreamReset reset;

    StreamLog(int id) {
        this.id = id;
    }

    boolean isOver() {
        return closed || reset != null;
    }

    /** The code of the reset, or null when there was none. */
    @Nullable
    ErrorCode resetCode() {
        return reset == null ? null : reset.code();
    }

    /** Returns a buffer the caller owns with the next {@code bytes} of this side's body. */
    ByteBuf next(ByteBufAllocator allocator, Role sender, int bytes) {
        ByteBuf body = allocator.heapBuffer(bytes);
        for (int i = 0; i < bytes; i++) {
            body.writeByte(pattern(sender, writtenBytes++));
        }
        return body;
    }

    /** Checks a part of the peer's body. Borrows {@code body}. */
    void arrived(Role sender, ByteBuf body) {
        assertThat(ended).as("DATA of stream %s after its end", id).isFalse();
        for (int i = body.readerIndex(); i < body.writerIndex(); i++) {
            if (body.getByte(i) != pattern(sender, receivedBytes)) {
                throw new AssertionError(
                        "stream " + id + " from " + sender + ": wrong byte at " + receivedBytes);
            }
            receivedBytes++;
        }
        heldBytes += body.readableBytes();
    }

    private byte pattern(Role sender, long at) {
        return (byte) (id * 31L + (sender == Role.SERVER ? 7 : 0) + at * 131 + (at >> 8));
    }
}
