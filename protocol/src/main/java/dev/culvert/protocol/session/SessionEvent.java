package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** What the application should know. {@link Data} holds a buffer that whoever polls it owns. */
public sealed interface SessionEvent {
    /** What happens to one stream. */
    sealed interface OfStream extends SessionEvent {
        int streamId();
    }

    /** Server: the client's hello; answer with {@link Session#ready} or {@link Session#close}. */
    record PeerHello(Hello hello) implements SessionEvent {}

    /** Client: the server wants a proof before it is ready; answer with {@link Session#auth}. */
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

    /** Body bytes; report them with {@link Session#consumed} once they are passed on. */
    record Data(int streamId, ByteBuf body, boolean last) implements OfStream {}

    /** The peer's half ended with trailers. */
    record Trailers(int streamId, Http2Headers trailers) implements OfStream {}

    /** {@code bytes} of queued DATA were put on the wire. */
    record Sent(int streamId, int bytes) implements OfStream {}

    /** Both halves ended and everything was consumed: the stream is gone. */
    record StreamClosed(int streamId) implements OfStream {}

    /** The stream is gone: reset by the peer, for its error, or with its session. */
    record StreamReset(int streamId, ErrorCode code, int cause, int hop,
            String detail) implements OfStream {}

    /**
     * Server: the client proves a certificate; before {@link Live} answer as {@link PeerHello}, after it with {@link
     * Session#answerAuth}. Both arrays are yours.
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Auth(byte[] certificate, byte[] proof) implements SessionEvent {}

    /** Client: the server's answer to {@link Session#auth}: {@code NO_ERROR}, or why the certificate before it stays. */
    record AuthAnswer(ErrorCode code, String detail) implements SessionEvent {}

    /** Server: what the client announces from now on, instead of what it did before. The array is yours. */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Announced(byte[] document) implements SessionEvent {}

    /** The peer goes away; see docs/protocol.md §8. */
    record GoingAway(ErrorCode code, int lastAccepted, int delayMillis,
            String detail) implements SessionEvent {}

    /** The session is over: send what {@link Session#pollFrame} still gives, then close the WebSocket. */
    record Closed(ErrorCode code, @Nullable String detail, boolean byPeer) implements SessionEvent {}
}
