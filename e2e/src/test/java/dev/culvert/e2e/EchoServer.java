package dev.culvert.e2e;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import java.net.InetAddress;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/**
 * A correct WebSocket server (Netty's, with its check of UTF-8) that says each whole message back. A Close frame that is
 * wrong it answers with the end of the connection, as RFC 6455 §7.1.7 allows.
 */
final class EchoServer implements AutoCloseable {
    private static final int MAX_MESSAGE = 2 << 20;
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            NioIoHandler.newFactory());
    private final Channel channel;

    /** @param deflates whether it takes permessage-deflate */
    EchoServer(boolean deflates) {
        var protocol = WebSocketServerProtocolConfig.newBuilder()
                .websocketPath("/")
                .checkStartsWith(true)
                .allowExtensions(deflates)
                .maxFramePayloadLength(MAX_MESSAGE)
                .sendCloseFrame(null)
                .build();
        channel = new ServerBootstrap().group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel accepted) {
                        accepted.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1024));
                        if (deflates) {
                            accepted.pipeline().addLast(new WebSocketServerCompressionHandler(MAX_MESSAGE));
                        }
                        accepted.pipeline()
                                .addLast(new WebSocketServerProtocolHandler(protocol),
                                        new WebSocketFrameAggregator(MAX_MESSAGE), new Echo());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    int port() {
        return ((java.net.InetSocketAddress) channel.localAddress()).getPort();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port());
    }

    @Override
    public void close() {
        channel.close();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static final class Echo extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame message) {
            ctx.writeAndFlush(message.retain());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // told by a Close frame, which is on its way
        }
    }
}
