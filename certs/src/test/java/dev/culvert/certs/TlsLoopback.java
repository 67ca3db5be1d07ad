package dev.culvert.certs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One TLS listener on 127.0.0.1 and dials to it: real sockets, real handshakes. */
public final class TlsLoopback implements AutoCloseable {
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final BlockingQueue<Accepted> accepted = new ArrayBlockingQueue<>(16);
    private final Channel listener;

    /** What the listener saw of one handshake. */
    public record Accepted(@Nullable Throwable failure, List<X509Certificate> shown, String version) {}

    public TlsLoopback(SslContext server) {
        this(() -> server);
    }

    /** Asks for the TLS of each connection anew. */
    public TlsLoopback(Supplier<SslContext> server) {
        listener = new ServerBootstrap().group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer(channel -> {
                    channel.pipeline().addLast(server.get().newHandler(channel.alloc()));
                    channel.pipeline().addLast(new Observer());
                }))
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    public int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /**
     * Dials as if the listener were {@code host}. Returns what ALPN chose, or "".
     *
     * @param host null: the handler does not know it
     */
    public String dial(SslContext client, @Nullable String host) throws Throwable {
        int port = port();
        // Kept here: a handshake may fail, and its channel be gone, before connect returns.
        var handler = new CompletableFuture<SslHandler>();
        Channel channel = new Bootstrap().group(loops)
                .channel(NioSocketChannel.class)
                .handler(initializer(made -> {
                    SslHandler tls = host == null
                            ? client.newHandler(made.alloc())
                            : client.newHandler(made.alloc(), host, port);
                    made.pipeline().addLast(tls, new Closer());
                    handler.complete(tls);
                }))
                .connect(InetAddress.getLoopbackAddress(), port)
                .syncUninterruptibly()
                .channel();
        try {
            SslHandler tls = handler.join();
            var handshake = tls.handshakeFuture().awaitUninterruptibly();
            if (handshake.cause() != null) {
                throw handshake.cause();
            }
            String protocol = tls.applicationProtocol();
            return protocol == null ? "" : protocol;
        } finally {
            channel.close().syncUninterruptibly();
        }
    }

    /** What the listener saw of the next handshake. */
    public Accepted accepted() throws InterruptedException {
        Accepted next = accepted.poll(10, TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("no handshake reached the listener");
        }
        return next;
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private interface Setup {
        void on(Channel channel);
    }

    private static ChannelInitializer<Channel> initializer(Setup setup) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                setup.on(channel);
            }
        };
    }

    /** A failed handshake is looked at through its future. */
    private static class Closer extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /** Tells what it saw, and sends back what it gets. */
    private final class Observer extends Closer {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent done) {
                SslHandler tls = context.pipeline().get(SslHandler.class);
                var session = tls.engine().getSession();
                accepted.add(done.isSuccess()
                        ? new Accepted(null, ClientCertificates.shown(session), session.getProtocol())
                        : new Accepted(done.cause(), List.of(), ""));
            }
        }
    }
}
