package dev.culvert.relay.outbound;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Dials connections on one event loop: name resolution, TCP, TLS. If one address does not accept a
 * connection, the next one is tried, because nothing was sent yet. If the last one refuses, too, the best one
 * is dialled once more: behind the address of a Kubernetes Service are several pods.
 */
final class UpstreamDialler {
    /**
     * The receive buffer of a socket, in bytes; the kernel doubles it. When a peer has ended its output,
     * Netty's epoll reads everything that the kernel holds, without demand. So it must fit into a tunnel
     * stream's queue (docs/protocol.md §12).
     */
    private static final int RECEIVE_BUFFER = 192 << 10;

    /** The maximum number of addresses tried for one connection. */
    static final int MAX_TRIED = 3;

    private final Upstreams shared;
    private final EventLoop loop;
    private final UpstreamResolver resolver;
    private final Bootstrap bootstrap;
    private final int timeoutMillis;

    UpstreamDialler(Upstreams shared, EventLoop loop) {
        this.shared = shared;
        this.loop = loop;
        boolean epoll = loop instanceof IoEventLoop io && io.isCompatible(EpollIoHandle.class);
        timeoutMillis = Math.toIntExact(shared.limits().connectTimeout().toMillis());
        resolver = new UpstreamResolver(shared, loop, epoll, timeoutMillis);
        Class<? extends SocketChannel> socket = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        bootstrap = new Bootstrap().group(loop)
                .channel(socket)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                // either half may close first, and an upstream that accepts no more may still have responded
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.AUTO_CLOSE, false);
    }

    /** Resolves the addresses of an upstream again if they are due. Does not wait for the result. */
    void refresh(UpstreamAddress upstream, Endpoints endpoints) {
        if (endpoints.areKnown() && endpoints.isDue()) { // otherwise the dial resolves them and waits
            look(upstream, endpoints, unresolved -> {});
        }
    }

    /** @param then receives the problem that applies if there are no addresses */
    private void look(UpstreamAddress upstream, Endpoints endpoints, Consumer<Problem> then) {
        int asked = endpoints.epoch();
        resolver.resolve(upstream, answer -> {
            boolean counts = answer.found().isEmpty()
                    ? endpoints.notFound(asked)
                    : endpoints.found(asked, answer.found());
            if (counts) {
                then.accept(answer.unknown() ? UpstreamProblem.NO_NAME : UpstreamProblem.NO_ADDRESS);
            } else {
                look(upstream, endpoints, then);
            }
        });
    }

    /**
     * Dials. The outcome is reported on the loop, and not before this returns.
     *
     * @param first the address to try first; null: the best one
     */
    <C extends UpstreamConnection> void dial(UpstreamAddress upstream, Endpoints endpoints,
            @Nullable Endpoint first, Function<Channel, C> install, Outcome<C> outcome) {
        Dial<C> dial = new Dial<>(upstream, endpoints, install, outcome);
        if (first != null) {
            dial.connect(first);
        } else if (endpoints.areKnown()) {
            dial.next(UpstreamProblem.NO_CONNECTION);
        } else {
            dial.look();
        }
    }

    void close() {
        resolver.close();
    }

    /** Receives the result of a dial. */
    interface Outcome<C extends UpstreamConnection> {
        /** The dial succeeded. The receiver owns the connection. */
        void connected(C connection);

        /** The dial failed. */
        void failed(Problem problem);

        /**
         * Whether the exchange still needs the connection. If not, a failed dial does not count against its
         * address, and no other is tried.
         */
        default boolean isWanted() {
            return true;
        }
    }

    /** A dial of one connection, which tries one address after the other. */
    private final class Dial<C extends UpstreamConnection> {
        private final UpstreamAddress upstream;
        private final Endpoints endpoints;
        private final Function<Channel, C> install;
        private final Outcome<C> outcome;
        private final List<Endpoint> tried = new ArrayList<>(MAX_TRIED);
        /** The token of the address that is being tried; see {@link Endpoint#end}. */
        private int begun;
        /** Whether the best address is being dialled once more. */
        private boolean again;
        /** The epoch of the addresses that this dial picks from. */
        private int epoch;

        Dial(UpstreamAddress upstream, Endpoints endpoints, Function<Channel, C> install,
                Outcome<C> outcome) {
            this.upstream = upstream;
            this.endpoints = endpoints;
            this.install = install;
            this.outcome = outcome;
            this.epoch = endpoints.epoch();
        }

        /** Resolves the addresses and tries the best one. */
        void look() {
            epoch = endpoints.epoch();
            again = false;
            UpstreamDialler.this.look(upstream, endpoints, this::next);
        }

        /**
         * Tries the next address. If there is none, fails with the problem of the last one, unless another
         * thread replaced the configured names meanwhile and so made this dial's addresses unknown.
         */
        void next(Problem otherwise) {
            boolean wanted = outcome.isWanted() && tried.size() < MAX_TRIED;
            Endpoint next = wanted && !again ? endpoints.pick(tried) : null;
            if (next != null) {
                connect(next);
            } else if (wanted && endpoints.epoch() != epoch) {
                look();
            } else {
                loop.execute(() -> outcome.failed(otherwise));
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
                            refused(to, connected.cause());
                        } else if (pipeline.tls == null) {
                            connected(to, pipeline.connection());
                        } else {
                            pipeline.tls.handshakeFuture()
                                    .addListener(shaken -> shaken(to, pipeline, shaken.cause()));
                        }
                    });
        }

        /** Returns the connect time-out of one address, which leaves time for other addresses. */
        private int patience() {
            return Math.max(1, timeoutMillis / Math.clamp(endpoints.size(), 1, MAX_TRIED));
        }

        private void shaken(Endpoint to, Pipeline<C> pipeline, @Nullable Throwable failure) {
            if (failure == null && pipeline.isAgreed()) {
                connected(to, pipeline.connection());
            } else {
                pipeline.connection().close();
                if (failure != null) {
                    endpoints.trouble(to, failure);
                }
                failed(to, failure == null ? UpstreamProblem.NO_HTTP2 : UpstreamProblem.noTls(failure));
            }
        }

        private void connected(Endpoint to, C connection) {
            to.end(begun);
            connection.at(to);
            outcome.connected(connection);
        }

        /** Tries the next address or, once, the best one again. */
        private void refused(Endpoint to, Throwable cause) {
            Endpoint best = mayRepeat(cause) ? endpoints.pick(List.of()) : null;
            if (best == null) {
                endpoints.trouble(to, cause);
                failed(to, UpstreamProblem.refused("the upstream refused the connection"));
                return;
            }
            to.end(begun);
            if (!best.equals(to)) {
                endpoints.failed(to); // one dial counts once against an address
            }
            again = true;
            connect(best);
        }

        /** Only where the answer came at once: a network that is silent, or has no route, stays so. */
        private boolean mayRepeat(Throwable cause) {
            boolean last = tried.size() >= MAX_TRIED || endpoints.pick(tried) == null;
            boolean atOnce = cause instanceof ClosedChannelException || (cause instanceof ConnectException
                    && !(cause instanceof ConnectTimeoutException));
            return last && atOnce && !again && outcome.isWanted();
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

        /** Whether the upstream agreed to the required protocol. HTTP/1.1 needs no agreement. */
        boolean isAgreed() {
            return tls == null || !address.http2()
                    || ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
        }

        @Override
        protected void initChannel(Channel channel) {
            if (address.tls()) {
                SslContext context = shared.trust().towards(address).context(address.http2());
                tls = context.newHandler(channel.alloc(), address.host(), address.port());
                TlsLink.watch(context, tls, channel);
                tls.setHandshakeTimeoutMillis(timeoutMillis);
                channel.pipeline().addLast(HandlerNames.TLS, tls);
            }
            connection = install.apply(channel);
        }
    }
}
