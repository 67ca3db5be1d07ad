package dev.culvert.relay.listen;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the PROXY header of a balancer's connection, stores it for {@link CallerAddress}, and starts the
 * connection with the bytes after it. A connection without a valid header is closed.
 */
final class ProxyHeaderReader extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(ProxyHeaderReader.class);

    private final Duration patience;
    private final Runnable begin;
    private @Nullable ByteBuf received;
    private @Nullable ScheduledFuture<?> timer;

    /** @param begin adds the connection's handlers to the pipeline, or closes the connection */
    ProxyHeaderReader(Duration patience, Runnable begin) {
        this.patience = patience;
        this.begin = begin;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        received = ctx.alloc().buffer(ProxyHeader.MAX_LINE);
        timer = ctx.executor().schedule(() -> ctx.close(), patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (timer != null) {
            timer.cancel(false);
        }
        if (received != null) {
            received.release();
            received = null;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        ByteBuf all = received;
        try {
            if (all == null || !ctx.channel().isOpen()) {
                return; // the connection closed before
            }
            all.writeBytes(bytes);
            ProxyHeader header = ProxyHeader.read(all);
            if (header != null) {
                begin(ctx, header, all);
            }
        } catch (CorruptedFrameException e) {
            log.atDebug()
                    .addKeyValue("peer", ctx.channel().remoteAddress())
                    .addKeyValue("found", e.getMessage())
                    .log("connection closed, it does not begin with a PROXY header");
            ctx.close();
        } finally {
            bytes.release();
        }
    }

    private void begin(ChannelHandlerContext ctx, ProxyHeader header, ByteBuf all) {
        ByteBuf rest = ByteBufUtil.readBytes(ctx.alloc(), all, all.readableBytes());
        CallerAddress.keep(ctx.channel(), header);
        ctx.pipeline().remove(this);
        begin.run();
        if (!ctx.channel().isOpen() || !rest.isReadable()) {
            rest.release();
            return;
        }
        // From the head of the pipeline, because the handlers that {@code begin} added must see all bytes.
        ctx.pipeline().fireChannelRead(rest);
        ctx.pipeline().fireChannelReadComplete();
    }

    /** Closes the connection: without a complete PROXY header there is no exchange that could be lost. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event.equals(RelayListener.DRAIN) || event.equals(RelayListener.CUT)) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
