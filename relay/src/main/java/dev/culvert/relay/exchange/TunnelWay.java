package dev.culvert.relay.exchange;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Queue;

/** Hands connections of tunnel clients over on a listener shared with callers. */
public interface TunnelWay {
    /** Whether a request is for the tunnel. Its connection then belongs to the tunnel for good. */
    boolean isFor(HttpRequest request);

    /** Whether a request for this target may be one, whatever its host is. */
    boolean mayBeAt(CharSequence target);

    /**
     * Replaces the edge's handlers behind the decoder, of which {@code edge} is the last one, and passes on
     * the request and the messages behind it.
     *
     * @param encoder the handler before {@code edge}
     */
    void enter(ChannelHandlerContext edge, ChannelHandler encoder, HttpRequest request, Queue<Object> behind);
}
