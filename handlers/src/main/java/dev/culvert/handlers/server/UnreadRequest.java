package dev.culvert.handlers.server;

import dev.culvert.http.net.DiscardedInput;
import dev.culvert.http.net.LingeringClose;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Follows the HTTP/1.1 codec in the pipeline of a connection. Lets a caller that is still sending read its
 * response: turns the close of the connection into a {@link LingeringClose}, and bounds the rest of a request
 * that Reactor Netty reads and drops on a connection that it keeps.
 */
final class UnreadRequest extends ChannelDuplexHandler {
    /** The end of the present request has not arrived. */
    private boolean unread;
    /** The written end of the response to it; null before. */
    private @Nullable ChannelFuture answered;
    private @Nullable DiscardedInput rest;
    private boolean readWaits;
    private boolean closing;

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof HttpRequest request) {
            answered = null;
            unread = true;
            if (request.decoderResult().isFailure()) {
                ctx.fireChannelRead(msg);
                return; // the end of the request is unknown
            }
        }
        DiscardedInput dropped = rest;
        if (dropped != null && msg instanceof HttpContent content) {
            dropped.dropped(content.content().readableBytes());
        }
        if (msg instanceof LastHttpContent content && content.decoderResult().isSuccess()) {
            unread = false;
            endRest();
        }
        ctx.fireChannelRead(msg);
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (rest != null && rest.isPaused()) {
            readWaits = true;
        } else {
            ctx.read();
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        boolean last = msg instanceof LastHttpContent && !(msg instanceof HttpResponse response
                && response.status().codeClass() == HttpStatusClass.INFORMATIONAL);
        ChannelPromise written = last ? promise.unvoid() : promise;
        var _ = ctx.write(msg, written);
        if (last && unread) {
            answered = written;
            boolean reading = ctx.channel().config().isAutoRead();
            rest = new DiscardedInput(ctx.channel(), () -> resume(ctx, reading), () -> ctx.close());
        }
    }

    private void resume(ChannelHandlerContext ctx, boolean reading) {
        if (reading) {
            ctx.channel().config().setAutoRead(true);
        }
        if (readWaits) {
            readWaits = false;
            ctx.read();
        }
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        ChannelFuture last = answered;
        endRest();
        if (closing || !unread || last == null || !ctx.channel().isActive()) {
            ctx.close(promise);
            return;
        }
        closing = true; // the next call closes
        LingeringClose.begin(ctx.channel(), last);
        ctx.channel().closeFuture().addListener(closed -> promise.trySuccess());
    }

    private void endRest() {
        if (rest != null) {
            rest.end();
            rest = null;
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        endRest();
    }
}
