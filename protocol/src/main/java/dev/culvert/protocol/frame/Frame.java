package dev.culvert.protocol.frame;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import org.jspecify.annotations.Nullable;

/**
 * One unit on the wire (docs/protocol.md §3). A frame that holds a buffer owns it: the holder of the frame
 * must release it or pass it on.
 */
public sealed interface Frame {

    /** The first frame of each side. */
    record OpeningHello(Hello hello) implements Frame {}

    /**
     * From the server: the session is live. Contains a random session id, the generation, {@code
     * account/name} and the host.
     */
    record Ready(long sessionHigh, long sessionLow, long generation, String runtime,
            String host) implements Frame {}

    /** From the client: the answer to the {@link Ready} that ends its waiting (docs/protocol.md §4.3). */
    record ReadyAck() implements Frame {}

    /**
     * From the server: another instance owns the runtime, so the session waits.
     *
     * @param owner the content of a {@link Ready}, with the generation of that instance
     */
    record Wait(Ready owner) implements Frame {}

    /** From the client: it stops soon, and another instance may take over before. */
    record Leave() implements Frame {}

    /**
     * A head, or a part of one.
     *
     * @param flags bits of {@link FrameCodec}
     * @param kind the content of the stream, or null if this version does not know it
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

    /** Body bytes, owned by the frame. {@code last} ends the sender's half. */
    record Data(int streamId, ByteBuf body, boolean last) implements Frame {}

    /** Adds {@code bytes} to the window of a stream, or of the session when the id is 0. */
    record Grant(int streamId, int bytes) implements Frame {}

    /** Ends a stream at once in both directions. Cause and hop are the numbers of docs/protocol.md §10. */
    record Reset(int streamId, ErrorCode code, int cause, int hop, String detail) implements Frame {}

    /** A heartbeat or its answer. */
    record Ping(long opaque, boolean ack) implements Frame {}

    /** No new streams (server), or none above {@code lastAccepted} (client). */
    record GoAway(ErrorCode code, int lastAccepted, int delayMillis, String detail) implements Frame {}

    /**
     * From the client: this is its certificate from now on (docs/protocol.md §4.1). The frame owns both
     * arrays.
     *
     * @param certificate DER, at most {@link FrameCodec#MAX_CERTIFICATE} bytes
     * @param proof a signature over the session's nonces by its key, at most {@link FrameCodec#MAX_PROOF}
     *     bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Auth(byte[] certificate, byte[] proof) implements Frame {}

    /**
     * From the server: the result of an {@link Auth}: {@code NO_ERROR}, or the reason why the previous
     * certificate stays in use.
     */
    record AuthAnswer(ErrorCode code, String detail) implements Frame {}

    /**
     * From the client: a part of an announced document (docs/protocol.md §4.2). The frame owns the array.
     *
     * @param part at most {@link FrameCodec#MAX_PAYLOAD} bytes; only the last part may be empty
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Announce(byte[] part, boolean last) implements Frame {}

    /** A frame of an unknown type that the receiver may ignore. */
    record Skipped(int type) implements Frame {}

    /** Releases the buffer of a frame that has no receiver. */
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
