package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;

/** Receives the events of one stream, on the session's event loop. No event follows {@link #reset}. */
public interface StreamListener {
    /** Server: an informational or final response head. */
    default void head(Http2Headers head, HeadOptions options, boolean informational, boolean ended) {}

    /**
     * Body bytes; takes ownership of {@code body}. Each byte must be reported by {@link
     * TunnelStream#consumed}.
     */
    void data(ByteBuf body, boolean last);

    /** The peer's half ended with trailers. */
    void trailers(Http2Headers trailers);

    /** {@code bytes} passed to {@link TunnelStream#data} have left the queue. */
    void sent(int bytes);

    /** The session will end soon, and with it the stream if it is still open. */
    default void ending() {}

    /** The stream has ended: reset by the peer, or together with its session. */
    void reset(StreamReset reset);
}
