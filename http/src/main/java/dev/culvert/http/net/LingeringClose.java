package dev.culvert.http.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose peer may still be sending (RFC 9112 §9.6). It closes this half and drops received
 * bytes undecoded until the peer closes its half, within the bounds of {@link DiscardedInput}. A socket
 * closed at once would answer those bytes with a reset, which can destroy the last response. Belongs to the
 * channel's event loop.
 */
public final class LingeringClose extends ChannelDuplexHandler {
    /** The maximum time for which the socket may accept nothing of the last response. */
    static final long STALL_SECONDS = 30;
    /** The maximum number of such times, so that a peer that takes a byte in each does not stay. */
    static final int STALLS = 10;

    private final ChannelFuture last;
    private @Nullable DiscardedInput input;
    private @Nullable ScheduledFuture<?> stall;
    private int looks;

    private LingeringClose(ChannelFuture last) {
        this.last = last;
    }

    /**
     * Starts the close.
     *
     * @param last completes when the socket has accepted the last bytes, which are flushed
     */
    public static void begin(Channel channel, ChannelFuture last) {
        if (!channel.isActive() || channel.pipeline().get(HandlerNames.LINGERING_CLOSE) != null) {
            return;
        }
        channel.config().setAutoRead(true);
        var close = new LingeringClose(last);
        channel.pipeline().addFirst(HandlerNames.LINGERING_CLOSE, close);
        close.cutIfStalled(channel, Long.MAX_VALUE);
        last.addListener(written -> {
            close.written(channel);
            SslHandler tls = channel.pipeline().get(SslHandler.class);
            ChannelFuture said = tls == null ? last : tls.closeOutbound();
            said.addListener(done -> endOutput(channel, done.isSuccess()));
        });
    }

    /** Closes the connection if the socket has accepted nothing since {@code before} bytes waited for it. */
    private void cutIfStalled(Channel channel, long before) {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        // a message counts whole until its last byte is written
        long waiting = outbound == null ? 0 : outbound.totalPendingWriteBytes() - outbound.currentProgress();
        if (waiting >= before || looks++ > STALLS) {
            channel.close();
        } else if (!last.isDone()) {
            stall = channel.eventLoop()
                    .schedule(() -> cutIfStalled(channel, waiting), STALL_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** The times of the peer's rest begin when it has got the response. */
    private void written(Channel channel) {
        if (stall != null) {
            stall.cancel(false);
        }
        if (input != null && channel.isActive()) {
            input.end();
            input = discarded(channel);
        }
    }

    private static void endOutput(Channel channel, boolean written) {
        if (written && channel instanceof SocketChannel socket) {
            socket.shutdownOutput().addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
        } else {
            channel.close();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        input = discarded(ctx.channel());
    }

    private DiscardedInput discarded(Channel channel) {
        return new DiscardedInput(channel, () -> {
            channel.config().setAutoRead(true);
            channel.read(); // also where somebody else has set it during the pause
        }, () -> exceeded(channel));
    }

    /**
     * The peer has sent too much, or nothing. While it still reads the response, that is judged by its
     * progress.
     */
    private void exceeded(Channel channel) {
        if (last.isDone()) {
            channel.close();
        } else {
            input = discarded(channel);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (stall != null) {
            stall.cancel(false);
        }
        if (input != null) {
            input.end();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        int bytes = message instanceof ByteBuf part ? part.readableBytes() : 0;
        ReferenceCountUtil.release(message);
        if (input != null) {
            input.dropped(bytes);
        }
    }

    /** Reads nothing during a pause, whoever asks: an SslHandler that receives no bytes asks for more. */
    @Override
    public void read(ChannelHandlerContext ctx) {
        if (input == null || !input.isPaused()) {
            ctx.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            last.addListener(ChannelFutureListener.CLOSE); // the peer has closed its half
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }
}
