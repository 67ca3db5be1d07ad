package dev.culvert.protocol.frame;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import org.jspecify.annotations.Nullable;

/**
 * One unit on the wire (docs/protocol.md §3). Frames that hold a buffer own it: whoever has such a frame must release it
 * or hand it on.
 */
public sealed interface Frame {

    /** First words of a side. */
    record OpeningHello(Hello hello) implements Frame {}

    /** The server's word that the session is live: random session id, generation, {@code account/name} and host. */
    record Ready(long sessionHigh, long sessionLow, long generation, String runtime,
            String host) implements Frame {}

    /**
     * A head, or a part of one.
     *
     * @param flags bits of {@link FrameCodec}
     * @param kind what the stream carries, or null when this version does not know it
     * @param options empty with {@link FrameCodec#HEAD_MORE}
     * @param block HPACK bytes, owned by the frame
     */
    record Head(int streamId, int flags, @Nullable StreamKind kind, HeadOptions options,
            ByteBuf block) implements Frame {
        /** Whether this frame has the given flag of {@link FrameCodec}. */
        public boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    /** Body bytes, owned by the frame; {@code last} ends the half. */
    record Data(int streamId, ByteBuf body, boolean last) implements Frame {}

    /** Adds {@code bytes} to the window of a stream, or of the session when the id is 0. */
    record Grant(int streamId, int bytes) implements Frame {}

    /** Ends a stream at once, both ways. Cause and hop are the numbers of docs/protocol.md §10. */
    record Reset(int streamId, ErrorCode code, int cause, int hop, String detail) implements Frame {}

    /** A heartbeat or its answer. */
    record Ping(long opaque, boolean ack) implements Frame {}

    /** No new streams (server), or none above {@code lastAccepted} (client). */
    record GoAway(ErrorCode code, int lastAccepted, int delayMillis, String detail) implements Frame {}

    /**
     * Client: from now on this is its certificate (docs/protocol.md §4.1). Both arrays belong to the frame.
     *
     * @param certificate DER, at most {@link FrameCodec#MAX_CERTIFICATE} bytes
     * @param proof a signature over the session's nonces by its key, at most {@link FrameCodec#MAX_PROOF} bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Auth(byte[] certificate, byte[] proof) implements Frame {}

    /** Server: what it thinks of an {@link Auth}: {@code NO_ERROR}, or why the certificate before it stays. */
    record AuthAnswer(ErrorCode code, String detail) implements Frame {}

    /**
     * Client: a part of a document that it announces (docs/protocol.md §4.2). The array belongs to the frame.
     *
     * @param part at most {@link FrameCodec#MAX_PAYLOAD} bytes, empty only when it is the last
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Announce(byte[] part, boolean last) implements Frame {}

    /** A frame of a type that need not be known. */
    record Skipped(int type) implements Frame {}

    /** Releases the buffer of a frame that nobody took. */
    static void release(Frame frame) {
        ReferenceCounted held = switch (frame) {
            case Head head -> head.block;
            case Data data -> data.body;
            default -> null;
        };
        if (held != null) {
            held.release();
        }
    }
}
