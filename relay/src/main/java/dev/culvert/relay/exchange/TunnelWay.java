package dev.culvert.relay.exchange;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Queue;

/** Where connections of tunnel clients leave a listener that callers share with them. */
public interface TunnelWay {
    /** Whether a request is for the tunnel: its connection is one of the tunnel then, for good. */
    boolean isFor(HttpRequest request);

    /**
     * Replaces the edge's handlers behind the decoder, of which {@code edge} is the last one, and passes the request on,
     * with what came behind it.
     *
     * @param encoder the handler in front of {@code edge}
     */
    void enter(ChannelHandlerContext edge, ChannelHandler encoder, HttpRequest request, Queue<Object> behind);
}
