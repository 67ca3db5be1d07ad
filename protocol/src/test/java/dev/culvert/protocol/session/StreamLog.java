package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * What one side's application knows of a stream. Bodies are a pattern of stream, sender and position, checked as they arrive:
 * a byte lost, doubled or out of order is noticed at once.
 */
final class StreamLog {
    private static final byte[] PATTERN = pattern();

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
        while (body.readableBytes() < bytes) {
            int from = position(sender, writtenBytes);
            int part = Math.min(bytes - body.readableBytes(), PATTERN.length - from);
            body.writeBytes(PATTERN, from, part);
            writtenBytes += part;
        }
        return body;
    }

    /** Checks a part of the peer's body. Borrows {@code body}. */
    void arrived(Role sender, ByteBuf body) {
        assertThat(ended).as("DATA of stream %s after its end", id).isFalse();
        byte[] bytes = ByteBufUtil.getBytes(body);
        for (int at = 0; at < bytes.length;) {
            int from = position(sender, receivedBytes);
            int part = Math.min(bytes.length - at, PATTERN.length - from);
            if (!Arrays.equals(bytes, at, at + part, PATTERN, from, from + part)) {
                throw new AssertionError(
                        "stream " + id + " from " + sender + ": wrong bytes at " + receivedBytes);
            }
            at += part;
            receivedBytes += part;
        }
        heldBytes += bytes.length;
    }

    private int position(Role sender, long at) {
        return (int) ((id * 31L + (sender == Role.SERVER ? 17_389 : 0) + at) % PATTERN.length);
    }

    private static byte[] pattern() {
        byte[] pattern = new byte[65_521]; // a prime: no frame or window divides it
        new Random(7).nextBytes(pattern);
        return pattern;
    }
}
