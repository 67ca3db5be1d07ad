package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** An event for the application. The caller of {@link Session#pollEvent} owns the buffer of {@link Data}. */
public sealed interface SessionEvent {
    /** An event of one stream. */
    sealed interface OfStream extends SessionEvent {
        int streamId();
    }

    /** Server: the client's hello; answer with {@link Session#ready} or {@link Session#close}. */
    record PeerHello(Hello hello) implements SessionEvent {}

    /** Client: the server requires a proof before it is ready; answer with {@link Session#auth}. */
    record ProofWanted(Hello server) implements SessionEvent {}

    /** The session is live. On the server the values are those given to {@link Session#ready}. */
    record Live(long sessionHigh, long sessionLow, long generation, String runtime, String host)
            implements
                SessionEvent {}

    /** Client: the server opened a stream. */
    record Opened(int streamId, StreamKind kind, Http2Headers head, HeadOptions options, boolean ended)
            implements
                OfStream {}

    /** Server: an informational or final response head. */
    record ResponseHead(int streamId, Http2Headers head, HeadOptions options, boolean informational,
            boolean ended)
            implements
                OfStream {}

    /** Body bytes. Call {@link Session#consumed} after they were passed on. */
    record Data(int streamId, ByteBuf body, boolean last) implements OfStream {}

    /** The peer's half ended with trailers. */
    record Trailers(int streamId, Http2Headers trailers) implements OfStream {}

    /** {@code bytes} of queued DATA were sent. */
    record Sent(int streamId, int bytes) implements OfStream {}

    /** The stream has ended: both halves ended and all bytes were consumed. */
    record StreamClosed(int streamId) implements OfStream {}

    /** The stream has ended: reset by the peer, for an error of the peer, or together with its session. */
    record StreamReset(int streamId, ErrorCode code, int cause, int hop,
            String detail) implements OfStream {}

    /**
     * Client: another instance owns the runtime, with {@code generation}. {@link Live} follows when the
     * server promotes this one.
     */
    record Waiting(long sessionHigh, long sessionLow, long generation, String runtime, String host)
            implements
                SessionEvent {}

    /** Server: the client stops soon, and another instance may take over before. */
    record Leaving() implements SessionEvent {}

    /**
     * Server: the client proves a certificate. Before {@link Live} answer as {@link PeerHello}, after it with
     * {@link Session#answerAuth}. The receiver owns both arrays.
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Auth(byte[] certificate, byte[] proof) implements SessionEvent {}

    /**
     * Client: the server's answer to {@link Session#auth}: {@code NO_ERROR}, or the reason why the previous
     * certificate stays in use.
     */
    record AuthAnswer(ErrorCode code, String detail) implements SessionEvent {}

    /**
     * Server: the client's announced document, which replaces the previous one. The receiver owns the array.
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Announced(byte[] document) implements SessionEvent {}

    /** The peer goes away; see docs/protocol.md §8. */
    record GoingAway(ErrorCode code, int lastAccepted, int delayMillis,
            String detail) implements SessionEvent {}

    /**
     * The session has ended. Send the remaining frames of {@link Session#pollFrame}, then close the
     * WebSocket.
     */
    record Closed(ErrorCode code, @Nullable String detail, boolean byPeer) implements SessionEvent {}
}
