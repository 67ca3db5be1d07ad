package dev.culvert.relay.inbound;

import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.listen.RelayListener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the first bytes of a connection without TLS, and continues with their protocol. HTTP/2 with prior
 * knowledge begins with a preface that is not valid HTTP/1.1 (RFC 9113 §3.3).
 */
final class PlainEdgeProtocol extends ByteToMessageDecoder {
    private static final Logger log = LoggerFactory.getLogger(PlainEdgeProtocol.class);
    private static final ByteBuf PREFACE = Http2CodecUtil.connectionPrefaceBuf();

    private final EdgeContext shared;
    private @Nullable Deadline deadline;
    /** The server stops. The handlers of the chosen protocol receive that event later. */
    private boolean draining;

    PlainEdgeProtocol(EdgeContext shared) {
        this.shared = shared;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        deadline = new Deadline(ctx.channel().eventLoop());
        deadline.set(shared.limits().headTimeout(), ctx::close);
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        stopWaiting();
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

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        int seen = Math.min(in.readableBytes(), PREFACE.readableBytes());
        boolean http2 = in.slice(in.readerIndex(), seen).equals(PREFACE.slice(0, seen));
        if (http2 && seen < PREFACE.readableBytes()) {
            return; // both protocols are still possible
        }
        if (http2) {
            EdgeProtocol.http2(ctx.pipeline(), shared);
        } else {
            EdgeProtocol.http1(ctx.pipeline(), shared);
        }
        if (draining) {
            ctx.fireUserEventTriggered(RelayListener.DRAIN);
        }
        ctx.pipeline().remove(this); // passes on the bytes that it has read
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event.equals(RelayListener.DRAIN) && deadline != null) {
            draining = true;
            deadline.set(EdgeContext.DRAIN_IDLE, ctx::close);
        }
        if (event.equals(RelayListener.CUT)) {
            ctx.close();
        }
        super.userEventTriggered(ctx, event);
    }

    /** A reset before the first request. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!MemoryRefusals.CALLER.counts(cause) && !(cause instanceof IOException)) {
            log.atWarn().setCause(cause).log("edge connection failed");
        }
        ctx.close();
    }
}
