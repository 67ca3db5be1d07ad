package dev.culvert.relay.inbound;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.relay.HeadBlockGuard;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.inbound.http1.Http1EdgeConnection;
import dev.culvert.relay.inbound.http1.Http1RequestDecoder;
import dev.culvert.relay.inbound.http1.Http1ResponseEncoder;
import dev.culvert.relay.inbound.http2.Http2EdgeConnection;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.listen.RelayListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the TLS handshake of a caller's connection, and continues with the negotiated protocol (RFC
 * 7301).
 */
final class EdgeProtocol extends ApplicationProtocolNegotiationHandler {
    private static final Logger log = LoggerFactory.getLogger(EdgeProtocol.class);

    /** The time that a handshake has when the server drains. */
    static final Duration LAST_HANDSHAKES = Duration.ofSeconds(3);

    private final EdgeContext shared;
    private @Nullable Deadline deadline;
    /** The server stops. The handlers of the chosen protocol receive that event later. */
    private boolean draining;

    EdgeProtocol(EdgeContext shared) {
        super(ApplicationProtocolNames.HTTP_1_1);
        this.shared = shared;
    }

    /** Adds the handlers of HTTP/1.1. */
    static void http1(ChannelPipeline pipeline, EdgeContext shared) {
        var decoder = new Http1RequestDecoder(shared.limits());
        var encoder = new Http1ResponseEncoder();
        pipeline.addLast(HandlerNames.HTTP1_DECODER, decoder);
        pipeline.addLast(HandlerNames.HTTP1_ENCODER, encoder);
        pipeline.addLast(HandlerNames.HTTP1, new Http1EdgeConnection(shared, decoder, encoder));
    }

    /** Adds the handlers of HTTP/2. */
    static void http2(ChannelPipeline pipeline, EdgeContext shared) {
        pipeline.addLast(HandlerNames.HEAD_BLOCKS, HeadBlockGuard.ofCaller(shared.limits().headTimeout()));
        pipeline.addLast(HandlerNames.HTTP2, Http2EdgeConnection.of(shared));
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
        if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
            http2(ctx.pipeline(), shared);
        } else {
            http1(ctx.pipeline(), shared);
        }
        if (draining) {
            ctx.fireUserEventTriggered(RelayListener.DRAIN);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        Duration patience = shared.limits().headTimeout();
        deadline = new Deadline(ctx.channel().eventLoop());
        deadline.set(patience, ctx::close);
        super.handlerAdded(ctx);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) throws Exception {
        stopWaiting();
        super.handlerRemoved(ctx);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        stopWaiting();
        super.channelInactive(ctx);
    }

    private void stopWaiting() {
        if (deadline != null) {
            deadline.close();
        }
    }

    /**
     * Lets handshakes in progress end for a short time: a caller may have sent its request with the last
     * handshake message.
     */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event.equals(RelayListener.DRAIN) && deadline != null) {
            draining = true;
            deadline.set(LAST_HANDSHAKES, ctx::close);
        }
        if (event.equals(RelayListener.CUT)) {
            ctx.close();
        }
        super.userEventTriggered(ctx, event);
    }

    @Override
    protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
        log.atDebug().addKeyValue("error", cause).log("TLS handshake failed");
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        handshakeFailure(ctx, cause);
    }
}
