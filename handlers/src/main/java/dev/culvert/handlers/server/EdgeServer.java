package dev.culvert.handlers.server;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.DiscardAccounts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.http.net.KeepAlive;
import dev.culvert.http.net.ListenException;
import dev.culvert.http.net.PairedResponseEncoder;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A listener of the handlers plane: HTTP/1.1 on Reactor Netty, in front of one {@link EdgeHandler}. Bodies
 * stream in both directions on demand. A handler's error becomes a problem. A body that fails after its head
 * resets the connection. Safe for use by any thread.
 */
public final class EdgeServer {
    /** The maximum frame size. Larger messages are split into several frames. */
    static final int MAX_WEB_SOCKET_FRAME_BYTES = 1 << 20;

    /** Callers that are refused while draining soon reach another instance or the restarted one. */
    private static final Duration RETRY_WHILE_DRAINING = Duration.ofSeconds(1);

    private static final Duration LOOPS_END = Duration.ofSeconds(2);

    private final DisposableServer listener;
    private final Connections connections;
    private final @Nullable EventLoops own;

    private EdgeServer(DisposableServer listener, Connections connections, @Nullable EventLoops own) {
        this.listener = listener;
        this.connections = connections;
        this.own = own;
    }

    /**
     * As {@link #start}, on a separate event loop with its own memory, which the listener disposes.
     * Operators' requests are answered while the traffic loops are stalled or out of memory.
     *
     * @param setup creates the listener's setup for the given loops
     */
    public static Mono<EdgeServer> apart(Function<LoopResources, Setup> setup, EdgeHandler handler) {
        return Mono.defer(() -> {
            EventLoops own = EventLoops.apart();
            return start(setup.apply(own), handler)
                    .map(started -> new EdgeServer(started.listener, started.connections, own))
                    .doOnError(e -> own.dispose())
                    .doOnCancel(own::dispose);
        });
    }

    /**
     * Opens the listener. Errors: {@link ListenException} if the address can't be bound. Cancelling closes it
     * again. The caller disposes the loops.
     */
    public static Mono<EdgeServer> start(Setup setup, EdgeHandler handler) {
        return Mono.defer(() -> {
            var connections = new Connections();
            EdgeHandler filtered = filtered(handler, setup.filters());
            var origins = new ForwardingRules(ForwardingRules.newPseudonym(), setup.trustedProxies());
            return server(setup, connections)
                    .handle((request, response) -> exchange(setup, connections, filtered, origins, request,
                            response))
                    .bind()
                    .map(listener -> new EdgeServer(listener, connections, null))
                    .onErrorMap(error -> listenFailure(setup.listen(), error));
        });
    }

    /** The address of the listener, with the actual port. */
    public HostPort address() {
        return HostPort.of((InetSocketAddress) listener.address());
    }

    /**
     * Drains the listener. Stops listening, refuses new requests with {@code draining}, and lets those in
     * progress finish within {@code grace}. Then closes WebSockets with 1001 and resets the rest. Completes
     * when every connection is closed.
     */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            listener.dispose();
            return connections.drain(grace)
                    .then(listener.onDispose())
                    .then(own == null ? Mono.empty() : own.disposeLater(Duration.ZERO, LOOPS_END));
        });
    }

    private static EdgeHandler filtered(EdgeHandler handler, List<EdgeFilter> filters) {
        EdgeHandler next = handler;
        for (EdgeFilter filter : filters.reversed()) {
            next = filter.before(next);
        }
        return next;
    }

    @SuppressWarnings("deprecation") // the default chunk of 8 KiB would split every socket read
    private static HttpServer server(Setup setup, Connections connections) {
        EdgeLimits limits = setup.limits();
        DiscardAccounts discards = new DiscardAccounts();
        HttpServer server = HttpServer.create()
                .runOn(setup.loops())
                .protocol(HttpProtocol.HTTP11)
                .bindAddress(() -> new InetSocketAddress(setup.listen().host(), setup.listen().port()))
                .idleTimeout(limits.idleTimeout())
                .doOnChannelInit((observer, channel, remote) -> {
                    KeepAlive.bound(channel);
                    connections.opened(channel);
                    discards.keep(channel, SourceAddress.of(channel.remoteAddress()));
                    guard(channel, setup);
                });
        if (setup.loops() instanceof EventLoops own) {
            server = server.childOption(ChannelOption.ALLOCATOR, own.allocator());
        }
        SslContext tls = setup.tls();
        return tls == null ? server : server.secure(spec -> spec.sslContext(tls));
    }

    /** Replaces Reactor Netty's codec, which reads heads that other recipients read differently. */
    private static void guard(Channel channel, Setup setup) {
        EdgeLimits limits = setup.limits();
        var encoder = new PairedResponseEncoder();
        var decoder = new JudgedRequestDecoder(limits.uriBytes(), limits.headBytes(), encoder::requested);
        Telemetry telemetry = setup.telemetry();
        var guard = new RequestGuard(limits, problem -> {
            if (telemetry != null) {
                telemetry.problem(problem);
            }
        });
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.replace(NettyPipeline.HttpCodec, NettyPipeline.HttpCodec, decoder);
        pipeline.addBefore(NettyPipeline.HttpCodec, "culvert.bytes", guard.bytesListener())
                .addBefore(NettyPipeline.HttpCodec, HandlerNames.HTTP1_ENCODER, encoder)
                .addAfter(NettyPipeline.HttpCodec, "culvert.guard", guard)
                .addAfter(NettyPipeline.HttpCodec, "culvert.unreadRequest", new UnreadRequest());
    }

    private static Mono<Void> exchange(Setup setup, Connections connections, EdgeHandler handler,
            ForwardingRules origins, HttpServerRequest request, HttpServerResponse response) {
        var exchange = new HandlerExchange(request, response, connections, setup.telemetry(), origins);
        return Mono.defer(() -> connections.enter() ? exchange.serve(handler) : exchange.refuse(draining()))
                .doFinally(signal -> connections.leave());
    }

    private static Problem draining() {
        return Problem.of(Cause.DRAINING, Hop.EDGE, "this instance is shutting down")
                .retryAfter(RETRY_WHILE_DRAINING);
    }

    private static Throwable listenFailure(HostPort address, Throwable error) {
        if (!(error instanceof ChannelBindException)) {
            return error;
        }
        return new ListenException(address, Reason.of(error.getCause() == null ? error : error.getCause()));
    }

    /**
     * The parameters of a listener.
     *
     * @param listen the address; port 0 picks a free port
     * @param loops the event loops; the caller disposes them
     * @param tls the TLS context, or null for plain HTTP
     * @param filters the filters around the handler, the outermost first
     * @param telemetry counts problems, or null
     * @param limits the limits of a connection
     * @param trustedProxies networks whose {@code X-Forwarded-For} determines a request's source; none by
     *     default
     */
    public record Setup(HostPort listen, LoopResources loops, @Nullable SslContext tls,
            List<EdgeFilter> filters,
            @Nullable Telemetry telemetry, EdgeLimits limits, List<Cidr> trustedProxies) {
        public Setup {
            filters = List.copyOf(filters);
            trustedProxies = List.copyOf(trustedProxies);
        }

        /** Plain HTTP without filters, with default limits. */
        public static Setup of(HostPort listen, LoopResources loops) {
            return new Setup(listen, loops, null, List.of(), null, EdgeLimits.defaults(), List.of());
        }

        /** This setup with TLS. */
        public Setup tls(SslContext context) {
            return new Setup(listen, loops, context, filters, telemetry, limits, trustedProxies);
        }

        /** This setup with one more filter, inside the present ones. */
        public Setup filter(EdgeFilter filter) {
            List<EdgeFilter> more = new ArrayList<>(filters);
            more.add(filter);
            return new Setup(listen, loops, tls, more, telemetry, limits, trustedProxies);
        }

        /** This setup with telemetry. */
        public Setup telemetry(Telemetry counted) {
            return new Setup(listen, loops, tls, filters, counted, limits, trustedProxies);
        }

        /** This setup with other limits. */
        public Setup limits(EdgeLimits others) {
            return new Setup(listen, loops, tls, filters, telemetry, others, trustedProxies);
        }

        /** This setup with trusted proxies. */
        public Setup trustedProxies(List<Cidr> trusted) {
            return new Setup(listen, loops, tls, filters, telemetry, limits, trusted);
        }
    }
}
