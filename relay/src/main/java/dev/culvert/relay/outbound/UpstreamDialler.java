package dev.culvert.relay.outbound;

import dev.culvert.http.net.ConnectRace;
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
import io.netty.channel.ChannelFuture;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Dials connections on one event loop: name resolution, TCP, TLS. If one address does not accept a connection
 * or is silent, the next one is tried ({@link ConnectRace}), because nothing was sent yet. If the last one
 * refuses, too, the best one is dialled once more: behind the address of a Kubernetes Service are several
 * pods.
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

    /** A dial of one connection. Confined to the loop. */
    private final class Dial<C extends UpstreamConnection> implements ConnectRace.Course<Attempt<C>> {
        private final UpstreamAddress upstream;
        private final Endpoints endpoints;
        private final Function<Channel, C> install;
        private final Outcome<C> outcome;
        private final List<Endpoint> tried = new ArrayList<>(MAX_TRIED);
        private final long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        /** Why an address that accepted the connection was not used. It says more than another's refusal. */
        private @Nullable Problem unusable;
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
         * Tries the next addresses. If there is none, fails with the problem of the last one, unless another
         * thread replaced the configured names meanwhile and so made this dial's addresses unknown.
         */
        void next(Problem otherwise) {
            Attempt<C> next = next();
            if (next != null) {
                new ConnectRace<>(loop, this).start(next);
            } else if (outcome.isWanted() && tried.size() < MAX_TRIED && endpoints.epoch() != epoch) {
                look();
            } else {
                loop.execute(() -> outcome.failed(otherwise));
            }
        }

        void connect(Endpoint to) {
            new ConnectRace<>(loop, this).start(attempt(to));
        }

        private Attempt<C> attempt(Endpoint to) {
            tried.add(to);
            return new Attempt<>(to, to.begin(), new Pipeline<>(upstream, install));
        }

        @Override
        public @Nullable Attempt<C> next() {
            boolean wanted = outcome.isWanted() && tried.size() < MAX_TRIED && !again;
            Endpoint next = wanted ? endpoints.pick(tried) : null;
            return next == null ? null : attempt(next);
        }

        @Override
        public ChannelFuture connect(Attempt<C> attempt) {
            return bootstrap.clone()
                    .handler(attempt.pipeline)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, patience())
                    .connect(attempt.to.address());
        }

        /**
         * Returns what is left until the deadline. Behind a TLS handshake that took that long, an address has
         * its share of it.
         */
        private int patience() {
            long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
            return (int) Math.max(left, Math.max(1, timeoutMillis / MAX_TRIED));
        }

        @Override
        public void failed(Attempt<C> attempt, Throwable cause) {
            attempt.end();
            if (unusable == null) {
                endpoints.trouble(attempt.to, cause);
            }
            if (!mayRepeat(cause)) {
                count(attempt.to);
            }
        }

        @Override
        public void lost(Attempt<C> attempt) {
            attempt.end();
            endpoints.outrun(attempt.to);
        }

        @Override
        public void won(Attempt<C> attempt, Channel channel) {
            SslHandler tls = attempt.pipeline.tls;
            if (tls == null) {
                connected(attempt);
            } else {
                tls.handshakeFuture().addListener(shaken -> shaken(attempt, shaken.cause()));
            }
        }

        /** Tries the best address again, once, or fails. */
        @Override
        public void over(Attempt<C> attempt, Throwable cause) {
            Endpoint to = attempt.to;
            Endpoint best = mayRepeat(cause) ? endpoints.pick(List.of()) : null;
            if (best == null) {
                next(unusable == null
                        ? UpstreamProblem.refused("the upstream refused the connection")
                        : unusable);
                return;
            }
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
            return last && atOnce && !again && unusable == null && outcome.isWanted();
        }

        private void shaken(Attempt<C> attempt, @Nullable Throwable failure) {
            Pipeline<C> pipeline = attempt.pipeline;
            if (failure == null && pipeline.isAgreed()) {
                connected(attempt);
                return;
            }
            pipeline.connection().close();
            if (failure != null) {
                endpoints.trouble(attempt.to, failure);
            }
            attempt.end();
            count(attempt.to);
            unusable = failure == null ? UpstreamProblem.NO_HTTP2 : UpstreamProblem.noTls(failure);
            next(unusable);
        }

        private void connected(Attempt<C> attempt) {
            attempt.end();
            endpoints.connected(attempt.to);
            C connection = attempt.pipeline.connection();
            connection.at(attempt.to);
            outcome.connected(connection);
        }

        private void count(Endpoint to) {
            if (outcome.isWanted()) {
                endpoints.failed(to);
            }
        }
    }

    /**
     * One address that is dialled.
     *
     * @param begun the token of {@link Endpoint#begin}
     */
    private record Attempt<C extends UpstreamConnection>(Endpoint to, int begun, Pipeline<C> pipeline) {
        void end() {
            to.end(begun);
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
