package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Assembles the frames of a head and decodes all heads in order (docs/protocol.md §5). */
final class HeadReader {
    private final Heads heads;
    private final int maxBytes;
    private Frame.@Nullable Head first;
    private ByteBuf block = Unpooled.EMPTY_BUFFER;

    /** A complete head. */
    record Whole(int streamId, int flags, @Nullable StreamKind kind, HeadOptions options,
            Http2Headers fields) {
        boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    HeadReader(Heads heads, int maxBytes) {
        this.heads = heads;
        this.maxBytes = maxBytes;
    }

    /** Whether a head is unfinished and the frame is not its next part. */
    boolean isInterruptedBy(Frame frame) {
        boolean continues = frame instanceof Frame.Head head && head.has(FrameCodec.HEAD_MORE)
                && first != null && head.streamId() == first.streamId();
        boolean starts = !(frame instanceof Frame.Head head && head.has(FrameCodec.HEAD_MORE));
        return first == null ? !starts : !continues;
    }

    /** Takes the frame's block. Returns the head after its last frame. */
    @Nullable
    Whole read(Frame.Head frame) {
        Frame.Head start = first;
        boolean last = frame.has(FrameCodec.HEAD_LAST);
        if (start == null && last) {
            try {
                return decoded(frame, frame.block());
            } finally {
                frame.block().release();
            }
        }
        if (start == null) {
            first = frame;
            block = Unpooled.buffer(2 * FrameCodec.MAX_PAYLOAD);
        }
        try {
            if (block.readableBytes() + frame.block().readableBytes() > maxBytes) {
                throw ProtocolException.session(ErrorCode.HEAD_TOO_LARGE,
                        "a head over " + maxBytes + " bytes");
            }
            block.writeBytes(frame.block());
        } finally {
            frame.block().release();
        }
        if (!last || start == null) {
            return null;
        }
        try {
            return decoded(start, block);
        } finally {
            release();
        }
    }

    void release() {
        block.release();
        block = Unpooled.EMPTY_BUFFER;
        first = null;
    }

    private Whole decoded(Frame.Head frame, ByteBuf whole) {
        if (whole.readableBytes() > maxBytes) {
            throw ProtocolException.session(ErrorCode.HEAD_TOO_LARGE, "a head over " + maxBytes + " bytes");
        }
        Http2Headers fields = heads.decode(frame.streamId(), whole);
        heads.spell(fields, frame.options().spelling());
        return new Whole(frame.streamId(), frame.flags(), frame.kind(), frame.options(), fields);
    }

    /** Throws a stream error if the head has an unknown required option. */
    static void checkOptions(Whole head) {
        if (!head.options().supported()) {
            throw ProtocolException.stream(head.streamId(), ErrorCode.UNSUPPORTED, "an unknown head option");
        }
    }

    /**
     * Throws a stream error unless the head is a request head, with a method and a known kind.
     *
     * @param tcp whether both sides support raw TCP streams
     */
    static void checkRequest(Whole head, boolean tcp) {
        checkOptions(head);
        if (head.kind() == null || (head.kind() == StreamKind.TCP && !tcp)) {
            throw ProtocolException.stream(head.streamId(), ErrorCode.UNSUPPORTED, "an unknown kind");
        }
        if (head.has(FrameCodec.HEAD_TRAILERS) || head.fields().method() == null
                || head.fields().status() != null) {
            throw ProtocolException.stream(head.streamId(), ErrorCode.PROTOCOL, "not a request head");
        }
    }

    /**
     * Whether a response head is informational (100..199 except 101). Throws a stream error for an invalid
     * status or an informational head that ends the half.
     */
    static boolean isInformational(Whole head) {
        CharSequence status = head.fields().status();
        boolean valid = status != null && status.length() == 3 && status.charAt(0) >= '1'
                && status.charAt(0) <= '9'
                && isDigit(status.charAt(1)) && isDigit(status.charAt(2));
        boolean informational = valid && status.charAt(0) == '1' && !"101".contentEquals(status);
        if (!valid || (informational && head.has(FrameCodec.END))) {
            throw ProtocolException.stream(head.streamId(), ErrorCode.PROTOCOL, "not a response head");
        }
        return informational;
    }

    /**
     * Throws a stream error unless the trailers follow a final head, end the half, and contain no
     * pseudo-fields.
     */
    static void checkTrailers(Whole head, boolean afterFinalHead) {
        boolean pseudo = false;
        for (Map.Entry<CharSequence, CharSequence> field : head.fields()) {
            pseudo |= field.getKey().length() > 0 && field.getKey().charAt(0) == ':';
        }
        if (pseudo || !afterFinalHead || !head.has(FrameCodec.END)) {
            throw ProtocolException.stream(head.streamId(), ErrorCode.PROTOCOL, "trailers out of place");
        }
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
