package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.ProtocolException;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Announced documents, which are sent in parts (docs/protocol.md §4.2). The client holds the document being
 * sent and the newest one that waits; the server holds the one being received.
 */
final class Announcements {
    /** The maximum size of a document in bytes. */
    static final int MAX = 256 << 10;

    private final ByteArrayOutputStream arriving = new ByteArrayOutputStream(0);
    private byte @Nullable [] sending;
    private int sent;
    private byte @Nullable [] waiting;

    /** Sends {@code document} after the one in progress. Replaces a document that waits. */
    void send(byte[] document) {
        if (sending == null || sent == 0) {
            sending = document;
        } else {
            waiting = document;
        }
    }

    /** Whether a part waits to be sent. */
    boolean isDue() {
        return sending != null;
    }

    /** The maximum size in bytes of the frame that {@link #next} would return now. */
    int dueBytes() {
        byte[] document = sending;
        return document == null
                ? 0
                : FrameCodec.HEADER_BYTES + Math.min(FrameCodec.MAX_PAYLOAD, document.length - sent);
    }

    /** The next part, or null if it does not fit into {@code out}. Check {@link #isDue} first. */
    @Nullable
    Frame next(ByteBuf out) {
        byte[] document = sending;
        if (document == null || out.maxWritableBytes() < dueBytes()) {
            return null;
        }
        int end = Math.min(document.length, sent + FrameCodec.MAX_PAYLOAD);
        byte[] part = Arrays.copyOfRange(document, sent, end);
        boolean last = end == document.length;
        sent = last ? 0 : end;
        if (last) {
            sending = waiting;
            waiting = null;
        }
        return new Frame.Announce(part, last);
    }

    /** Drops the waiting documents. */
    void clear() {
        sending = null;
        waiting = null;
        sent = 0;
    }

    /** Receives a part. Returns the document after its last part. */
    byte @Nullable [] arrived(Frame.Announce frame) {
        if (arriving.size() + frame.part().length > MAX) {
            throw ProtocolException.session(ErrorCode.FRAME_SIZE,
                    "an announcement is longer than " + MAX + " bytes");
        }
        arriving.writeBytes(frame.part());
        if (!frame.last()) {
            return null;
        }
        byte[] document = arriving.toByteArray();
        arriving.reset();
        return document;
    }
}
