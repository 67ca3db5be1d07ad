package dev.culvert.http.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;

/**
 * Closes a connection whose peer may still be sending (RFC 9112 §9.6). It closes this half and drops received
 * bytes undecoded until the peer closes its half. A socket closed at once would answer those bytes with a
 * reset, which can destroy the last response. Belongs to the channel's event loop.
 */
public final class LingeringClose extends ChannelInboundHandlerAdapter {
    /** The time that the peer has to close its half. The caller of {@link #begin} sets the timer. */
    public static final Duration TIME = Duration.ofSeconds(5);
    /** The maximum number of dropped bytes. A peer that sends more does not read its response. */
    private static final int MAX_BYTES = 1 << 20;

    private int dropped;

    private LingeringClose() {}

    /** Starts the close. The caller has flushed all writes. */
    public static void begin(Channel channel) {
        if (!channel.isActive() || channel.pipeline().get(HandlerNames.LINGERING_CLOSE) != null) {
            return;
        }
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        ChannelFuture said = tls == null ? channel.newSucceededFuture() : tls.closeOutbound();
        channel.pipeline().addFirst(HandlerNames.LINGERING_CLOSE, new LingeringClose());
        said.addListener(done -> {
            if (done.isSuccess() && channel instanceof SocketChannel socket) {
                socket.shutdownOutput().addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
            } else {
                channel.close();
            }
        });
        channel.config().setAutoRead(true);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        dropped += message instanceof ByteBuf bytes ? bytes.readableBytes() : 0;
        ReferenceCountUtil.release(message);
        if (dropped > MAX_BYTES) {
            ctx.close();
        }
    }
}
