package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamProblem;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections on one event loop: name, TCP, TLS. Where one address does not take a connection, the next one is tried,
 * as nothing was sent yet.
 */
final class UpstreamDialler {
    /**
     * Netty's epoll reads a socket to its end as soon as the peer has ended it, though nobody asks for more: as much as the
     * kernel holds, which doubles this, must fit into what a tunnel's stream may queue (docs/protocol.md §12).
     */
    private static final int RECEIVE_BUFFER = 192 << 10;

    /** How many addresses are tried for one connection. */
    static final int MAX_TRIED = 3;

    private final Upstreams shared;
    private final EventLoop loop;
    private final UpstreamResolver resolver;
    private final Bootstrap bootstrap;
    private final int timeoutMillis;

    UpstreamDialler(Upstreams shared, EventLoop loop) {
        this.shared = shared;
        this.loop = loop;
        boolean epoll = loop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class);
        timeoutMillis = Math.toIntExact(shared.limits().connectTimeout().toMillis());
        resolver = new UpstreamResolver(shared, loop, epoll, timeoutMillis);
        Class<? extends SocketChannel> socket = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        bootstrap = new Bootstrap().group(loop)
                .channel(socket)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                // either half may close first, and an upstream that takes no more may still have answered
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.AUTO_CLOSE, false);
    }

    /** Looks for the addresses of an upstream again if it is time to; nobody waits for that. */
    void refresh(UpstreamAddress upstream, Endpoints endpoints) {
        if (endpoints.areKnown() && endpoints.isDue()) { // else whoever dials looks, and waits for it
            look(upstream, endpoints, () -> {});
        }
    }

    private void look(UpstreamAddress upstream, Endpoints endpoints, Runnable then) {
        int asked = endpoints.epoch();
        resolver.resolve(upstream, found -> {
            boolean counts = found.isEmpty() ? endpoints.notFound(asked) : endpoints.found(asked, found);
            if (counts) {
                then.run();
            } else {
                look(upstream, endpoints, then);
            }
        });
    }

    /**
     * Dials. The outcome is told on the loop, and not before this returns.
     *
     * @param first the address to begin with; null: whichever is best
     */
    <C extends UpstreamConnection> void dial(UpstreamAddress upstream, Endpoints endpoints,
            @Nullable Endpoint first, Function<Channel, C> install, Outcome<C> outcome) {
        Dial<C> dial = new Dial<>(upstream, endpoints, install, outcome);
        if (first != null) {
            dial.connect(first);
        } else if (endpoints.areKnown()) {
            dial.next(UpstreamProblem.NO_CONNECTION);
        } else {
            look(upstream, endpoints, () -> dial.next(UpstreamProblem.NO_NAME));
        }
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

        /** Whether anybody still waits for it: else a dial that ends says nothing of the address, and no other is tried. */
        default boolean isWanted() {
            return true;
        }
    }

    /** One connection to be made, by trying one address after the other. */
    private final class Dial<C extends UpstreamConnection> {
        private final UpstreamAddress upstream;
        private final Endpoints endpoints;
        private final Function<Channel, C> install;
        private final Outcome<C> outcome;
        private final List<Endpoint> tried = new ArrayList<>(MAX_TRIED);
        /** What the address that is being tried made of it. */
        private int begun;

        Dial(UpstreamAddress upstream, Endpoints endpoints, Function<Channel, C> install,
                Outcome<C> outcome) {
            this.upstream = upstream;
            this.endpoints = endpoints;
            this.install = install;
            this.outcome = outcome;
        }

        /** Tries the next address, or fails because of the last one. */
        void next(Problem otherwise) {
            Endpoint next = outcome.isWanted() && tried.size() < MAX_TRIED ? endpoints.pick(tried) : null;
            if (next == null) {
                loop.execute(() -> outcome.failed(otherwise));
            } else {
                connect(next);
            }
        }

        void connect(Endpoint to) {
            tried.add(to);
            begun = to.begin();
            Pipeline<C> pipeline = new Pipeline<>(upstream, install);
            bootstrap.clone()
                    .handler(pipeline)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, patience())
                    .connect(to.address())
                    .addListener(connected -> {
                        if (!connected.isSuccess()) {
                            failed(to, UpstreamProblem.refused("the upstream refused the connection"));
                        } else if (pipeline.tls == null) {
                            connected(to, pipeline.connection());
                        } else {
                            pipeline.tls.handshakeFuture()
                                    .addListener(shaken -> shaken(to, pipeline, shaken.isSuccess()));
                        }
                    });
        }

        /** Of the time that the whole may take, there has to be some left for another address. */
        private int patience() {
            return Math.max(1, timeoutMillis / Math.clamp(endpoints.size(), 1, MAX_TRIED));
        }

        private void shaken(Endpoint to, Pipeline<C> pipeline, boolean success) {
            if (success && pipeline.isAgreed()) {
                connected(to, pipeline.connection());
            } else {
                pipeline.connection().close();
                failed(to, success ? UpstreamProblem.NO_HTTP2 : UpstreamProblem.NO_TLS);
            }
        }

        private void connected(Endpoint to, C connection) {
            to.end(begun);
            connection.at(to);
            outcome.connected(connection);
        }

        private void failed(Endpoint to, Problem problem) {
            to.end(begun);
            if (outcome.isWanted()) {
                endpoints.failed(to);
            }
            next(problem);
        }
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
            if (address.tls()) {
                tls = shared.trust()
                        .towards(address)
                        .context(address.http2())
                        .newHandler(channel.alloc(), address.host(), address.port());
                tls.setHandshakeTimeoutMillis(timeoutMillis);
                channel.pipeline().addLast(tls);
            }
            connection = install.apply(channel);
        }
    }
}
