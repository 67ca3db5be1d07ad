package dev.culvert.router;

import dev.culvert.edge.Problem;
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
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes connections on one event loop: name, TCP, TLS. */
final class UpstreamDialler {
    /**
     * Netty's epoll reads a socket to its end as soon as the peer has ended it, though nobody asks for more: as much as the
     * kernel holds, which doubles this, must fit into what a tunnel's stream may queue (docs/protocol.md §12).
     */
    private static final int RECEIVE_BUFFER = 192 << 10;

    private final Upstreams shared;
    private final UpstreamResolver resolver;
    private final Bootstrap bootstrap;

    UpstreamDialler(Upstreams shared, EventLoop loop) {
        this.shared = shared;
        boolean epoll = loop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class);
        int timeoutMillis = Math.toIntExact(shared.limits().connectTimeout().toMillis());
        resolver = new UpstreamResolver(shared::addresses, loop, epoll, timeoutMillis);
        Class<? extends SocketChannel> socket = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        bootstrap = new Bootstrap().group(loop)
                .channel(socket)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                // either half may close first, and an upstream that takes no more may still have answered
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.AUTO_CLOSE, false);
    }

    /** Dials. The outcome is told on the loop, and not before this returns. */
    <C extends UpstreamConnection> void dial(UpstreamAddress upstream, Function<Channel, C> install,
            Outcome<C> outcome) {
        resolver.resolve(upstream).addListener((Future<InetSocketAddress> resolved) -> {
            if (resolved.isSuccess()) {
                connect(new Pipeline<>(upstream, install), resolved.getNow(), outcome);
            } else {
                outcome.failed(UpstreamProblem.refused("the upstream's name does not resolve"));
            }
        });
    }

    private <C extends UpstreamConnection> void connect(Pipeline<C> pipeline, InetSocketAddress address,
            Outcome<C> outcome) {
        bootstrap.clone().handler(pipeline).connect(address).addListener(connected -> {
            if (!connected.isSuccess()) {
                outcome.failed(UpstreamProblem.refused("the upstream refused the connection"));
            } else if (pipeline.tls == null) {
                outcome.connected(pipeline.connection());
            } else {
                pipeline.tls.handshakeFuture().addListener(shaken -> {
                    if (shaken.isSuccess() && pipeline.isAgreed()) {
                        outcome.connected(pipeline.connection());
                    } else {
                        pipeline.connection().close();
                        outcome.failed(
                                shaken.isSuccess() ? UpstreamProblem.NO_HTTP2 : UpstreamProblem.NO_TLS);
                    }
                });
            }
        });
    }

    void close() {
        resolver.close();
    }

    /** What became of a dial. */
    interface Outcome<C extends UpstreamConnection> {
        /** There is a connection: the receiver owns it. */
        void connected(C connection);

        /** There is none. */
        void failed(Problem problem);
    }

    /** Fills a new channel's pipeline. */
    private final class Pipeline<C extends UpstreamConnection> extends ChannelInitializer<Channel> {
        private final UpstreamAddress address;
        private final Function<Channel, C> install;
        private @Nullable SslHandler tls;
        private @Nullable C connection;

        Pipeline(UpstreamAddress address, Function<Channel, C> install) {
            this.address = address;
            this.install = install;
        }

        C connection() {
            return Objects.requireNonNull(connection);
        }

        /** Whether the upstream speaks what it has to: what is no HTTP/2 can be spoken to without agreeing on it. */
        boolean isAgreed() {
            return tls == null || !address.http2()
                    || ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
        }

        @Override
        protected void initChannel(Channel channel) {
            UpstreamTls contexts = shared.tls();
            if (address.tls()) {
                tls = Objects.requireNonNull(contexts)
                        .context(address.http2())
                        .newHandler(channel.alloc(), address.host(), address.port());
                tls.setHandshakeTimeoutMillis(shared.limits().connectTimeout().toMillis());
                channel.pipeline().addLast(tls);
            }
            connection = install.apply(channel);
        }
    }
}
