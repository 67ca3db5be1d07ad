package dev.culvert.router;

import dev.culvert.edge.Problem.Cause;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes connections on one event loop: name, TCP, TLS. */
final class UpstreamDialler {
    private final Upstreams shared;
    private final UpstreamResolver resolver;
    private final Bootstrap bootstrap;

    UpstreamDialler(Upstreams shared, EventLoop loop) {
        this.shared = shared;
        boolean epoll = loop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class);
        int timeoutMillis = Math.toIntExact(shared.limits().connectTimeout().toMillis());
        resolver = new UpstreamResolver(shared.addresses(), loop, epoll, timeoutMillis);
        Class<? extends SocketChannel> socket = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        bootstrap = new Bootstrap().group(loop)
                .channel(socket)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                // either half may close first, and an upstream that takes no more may still have answered
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.AUTO_CLOSE, false);
    }

    /** Dials. The outcome is told on the loop, and not before this returns. */
    void dial(UpstreamPool pool, Outcome outcome) {
        resolver.resolve(pool.address()).addListener((Future<InetSocketAddress> resolved) -> {
            if (resolved.isSuccess()) {
                connect(pool, resolved.getNow(), outcome);
            } else {
                outcome.failed(Cause.UPSTREAM_REFUSED, "the upstream's name does not resolve");
            }
        });
    }

    private void connect(UpstreamPool pool, InetSocketAddress address, Outcome outcome) {
        Pipeline pipeline = new Pipeline(pool);
        bootstrap.clone().handler(pipeline).connect(address).addListener(connected -> {
            if (!connected.isSuccess()) {
                outcome.failed(Cause.UPSTREAM_REFUSED, "the upstream refused the connection");
            } else if (pipeline.tls == null) {
                outcome.connected(pipeline.connection());
            } else {
                pipeline.tls.handshakeFuture().addListener(shaken -> {
                    if (shaken.isSuccess()) {
                        outcome.connected(pipeline.connection());
                    } else {
                        pipeline.connection().close();
                        outcome.failed(Cause.UPSTREAM_TLS, "the TLS handshake with the upstream failed");
                    }
                });
            }
        });
    }

    void close() {
        resolver.close();
    }

    /** What became of a dial. */
    interface Outcome {
        /** There is a connection: the receiver owns it. */
        void connected(UpstreamConnection connection);

        /** There is none. */
        void failed(Cause cause, String detail);
    }

    /** Fills a new channel's pipeline. */
    private final class Pipeline extends ChannelInitializer<Channel> {
        private final UpstreamPool pool;
        private @Nullable SslHandler tls;
        private @Nullable UpstreamConnection connection;

        Pipeline(UpstreamPool pool) {
            this.pool = pool;
        }

        UpstreamConnection connection() {
            return Objects.requireNonNull(connection);
        }

        @Override
        protected void initChannel(Channel channel) {
            UpstreamAddress address = pool.address();
            SslContext context = shared.tls();
            if (address.tls()) {
                tls = Objects.requireNonNull(context)
                        .newHandler(channel.alloc(), address.host(), address.port());
                tls.setHandshakeTimeoutMillis(shared.limits().connectTimeout().toMillis());
                channel.pipeline().addLast(tls);
            }
            UpstreamResponseDecoder decoder = new UpstreamResponseDecoder();
            connection = new UpstreamConnection(pool, channel, decoder);
            channel.pipeline().addLast(decoder, connection);
        }
    }
}
