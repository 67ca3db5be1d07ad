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
 * Documents that are announced (docs/protocol.md §4.2), part by part: on the client the one that is being sent and the newest
 * that waits for it, on the server the one that arrives.
 */
final class Announcements {
    /** Longest document, in bytes. */
    static final int MAX = 256 << 10;

    private final ByteArrayOutputStream arriving = new ByteArrayOutputStream(0);
    private byte @Nullable [] sending;
    private int sent;
    private byte @Nullable [] waiting;

    /** Sends {@code document} behind the one that has begun, instead of any that has not. */
    void send(byte[] document) {
        if (sending == null || sent == 0) {
            sending = document;
        } else {
            waiting = document;
        }
    }

    /** Whether there is something to send. */
    boolean isDue() {
        return sending != null;
    }

    /** Bytes of the longest frame that {@link #next} gives now. */
    int dueBytes() {
        byte[] document = sending;
        return document == null
                ? 0
                : FrameCodec.HEADER_BYTES + Math.min(FrameCodec.MAX_PAYLOAD, document.length - sent);
    }

    /** The next part, or null when it does not fit into {@code out}. Ask {@link #isDue} first. */
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

    /** Forgets what was to be sent. */
    void clear() {
        sending = null;
        waiting = null;
        sent = 0;
    }

    /** Takes a part; returns the document when it is the last. */
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
