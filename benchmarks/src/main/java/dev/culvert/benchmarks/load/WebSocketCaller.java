package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.ssl.SslContext;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Has one WebSocket; each exchange is a message and its echo. */
final class WebSocketCaller extends Caller {
    private static final int MAX_HEAD = 64 << 10;

    private final @Nullable SslContext tls;
    private final ByteBuf message;
    private @Nullable Channel channel;
    private int unread;

    WebSocketCaller(Load load, @Nullable SslContext tls) {
        super(load);
        this.tls = tls;
        byte[] bytes = new byte[load.plan.bytes()];
        for (int done = 0; done < bytes.length;) {
            ByteBuf part = Body.part(bytes.length - done);
            int count = part.readableBytes();
            part.readBytes(bytes, done, count).release();
            done += count;
        }
        this.message = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(bytes).asReadOnly());
    }

    @Override
    void exchange() {
        Channel present = channel;
        if (present == null) {
            connect();
        } else {
            send(present);
        }
    }

    private void send(Channel to) {
        unread = message.readableBytes();
        load.moved(unread);
        to.writeAndFlush(new BinaryWebSocketFrame(message.retainedDuplicate()), to.voidPromise());
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
                                .addLast(new HttpClientCodec(), new HttpObjectAggregator(MAX_HEAD),
                                        new WebSocketClientProtocolHandler(config()), new Echoes());
                    }
                })
                .connect(Callers.address(load.plan.url()))
                .addListener((ChannelFutureListener) done -> {
                    if (!done.isSuccess()) {
                        failed(reason(done.cause()));
                    }
                });
    }

    private WebSocketClientProtocolConfig config() {
        URI url = load.plan.url();
        String scheme = url.getScheme().equals("https") ? "wss" : "ws";
        return WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri(URI.create(scheme + "://" + url.getRawAuthority() + Callers.target(url)))
                .customHeaders(new DefaultHttpHeaders().set(HttpHeaderNames.HOST, Callers.host(load.plan)))
                .generateOriginHeader(false)
                .maxFramePayloadLength(Math.max(MAX_HEAD, load.plan.bytes()))
                .build();
    }

    private final class Echoes extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
            int bytes = frame.content().readableBytes();
            load.moved(bytes);
            unread -= bytes;
            if (unread == 0 && frame.isFinalFragment() && isBusy()) {
                succeeded();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                channel = ctx.channel();
                send(ctx.channel());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            channel = null;
            failed("the connection was closed");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            channel = null;
            failed(reason(cause));
            ctx.close();
        }
    }
}
