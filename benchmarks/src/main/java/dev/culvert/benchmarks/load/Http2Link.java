package dev.culvert.benchmarks.load;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A connection of HTTP/2 that callers share. Opened by the first that asks, and again after it was lost. */
final class Http2Link {
    private static final int WINDOW = 4 << 20;
    /** For all streams of a connection together. */
    private static final int CONNECTION_WINDOW = 64 << 20;

    private final Load load;
    private final @Nullable SslContext tls;
    private final List<BiConsumer<@Nullable Channel, @Nullable Throwable>> asking = new ArrayList<>();
    private @Nullable Channel channel;
    private boolean connecting;

    Http2Link(Load load, @Nullable SslContext tls) {
        this.load = load;
        this.tls = tls;
    }

    /** Gives the connection, or why there is none, now or later. */
    void ask(BiConsumer<@Nullable Channel, @Nullable Throwable> told) {
        if (channel != null) {
            told.accept(channel, null);
            return;
        }
        asking.add(told);
        if (!connecting) {
            connecting = true;
            connect();
        }
    }

    private void connect() {
        load.bootstrap()
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        load.opened(opened);
                        if (tls != null) {
                            opened.pipeline().addLast(tls.newHandler(opened.alloc()));
                        }
                        opened.pipeline()
                                .addLast(Http2FrameCodecBuilder.forClient()
                                        .initialSettings(Http2Settings.defaultSettings()
                                                .initialWindowSize(WINDOW))
                                        .build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()),
                                        new Settled());
                    }
                })
                .connect(Callers.address(load.plan.url()))
                .addListener((ChannelFutureListener) done -> {
                    if (!done.isSuccess()) {
                        tell(null, done.cause());
                    }
                });
    }

    private void tell(@Nullable Channel opened, @Nullable Throwable error) {
        connecting = false;
        channel = opened;
        var told = List.copyOf(asking);
        asking.clear();
        told.forEach(one -> one.accept(opened, error));
    }

    /** The peer's settings have come: it speaks HTTP/2. */
    private final class Settled extends ChannelInboundHandlerAdapter {
        private boolean settled;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2SettingsFrame && !settled) {
                settled = true;
                // The connection's window has 65,535 bytes whatever the settings say (RFC 9113 §6.9.2).
                ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame(CONNECTION_WINDOW), ctx.voidPromise());
                tell(ctx.channel(), null);
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (settled) {
                channel = null;
            } else {
                settled = true;
                tell(null, new IOException("the connection was closed"));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!settled) {
                settled = true;
                tell(null, cause);
            }
            ctx.close();
        }
    }
}
