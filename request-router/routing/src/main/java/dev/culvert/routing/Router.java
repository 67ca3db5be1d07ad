package dev.culvert.routing;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.BodyFirst;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamFigures;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.relay.upstream.UpstreamTrust;
import dev.culvert.routing.RouteConfig.Cors;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Routes exchanges to upstreams according to the routes and the cluster's policy. May be shared by all event
 * loops; each loop has its own connections.
 */
public final class Router implements Relay, AutoCloseable {
    private final Upstreams upstreams;
    private final UpstreamLimits limits;
    private final RouterAudit audit;
    private final TlsLink tls;
    private final UpstreamFigures figures = new UpstreamFigures();
    private volatile Rules rules;

    private Router(Rules rules, Upstreams upstreams, UpstreamLimits limits, RouterAudit audit, TlsLink tls) {
        this.tls = tls;
        this.limits = limits;
        this.rules = rules;
        this.upstreams = upstreams;
        this.audit = audit;
        rules.table.routes().forEach(this::figures);
    }

    /** Creates a router with the default limits and without an audit log. */
    public static Router create(RoutingConfig config) {
        return create(config, UpstreamLimits.defaults());
    }

    /** Creates a router without an audit log. Opens no connections; they are opened on demand. */
    public static Router create(RoutingConfig config, UpstreamLimits limits) {
        return create(config, limits, RouterAudit.NONE);
    }

    /**
     * Creates a router. Opens no connections; they are opened on demand.
     *
     * @param audit receives every request that the cluster's policy refuses and every change of the
     *     configuration; the caller closes it
     */
    public static Router create(RoutingConfig config, UpstreamLimits limits, RouterAudit audit) {
        Rules rules = Rules.of(config);
        TlsLink tls = TlsLink.of("upstream", "upstreams.postQuantum", config.upstreams().postQuantum());
        return new Router(rules,
                new Upstreams(config.upstreams().of(limits), config.upstreamNames(), rules.trust(tls)),
                limits,
                audit, tls);
    }

    /**
     * Replaces routes, policy and addresses. Running exchanges continue unchanged. Connections to upstreams
     * are kept unless the resolution of names changes. Reads the files of certificate authorities if an
     * upstream uses TLS, so it must not run on an event loop.
     *
     * @param origin the origin of the change, for example {@code router.yaml} or {@code SIGHUP}
     */
    public synchronized void replace(RoutingConfig config, String origin) {
        Rules next = Rules.of(config);
        RoutingConfig before = rules.config;
        upstreams.replace(next.trust(tls.with(config.upstreams().postQuantum())));
        upstreams.replace(config.upstreams().of(limits));
        UpstreamNames names = config.upstreamNames();
        if (!upstreams.names().equals(names)) {
            upstreams.replace(names);
        }
        rules = next;
        next.table.routes().forEach(this::figures);
        RoutingChanges.between(before, config)
                .forEach(change -> audit.changed(change.key(), origin, change.detail()));
    }

    /** The present configuration. Callable from any thread. */
    public RoutingConfig config() {
        return rules.config;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Http2Headers fields = request.fields();
        Rules now = rules;
        if (request.kind() == RelayRequest.Kind.TCP) {
            return openTcp(now, request, response);
        }
        if (TargetForm.ASTERISK.contentEquals(String.valueOf(fields.path()))) {
            return answerForServer(response);
        }
        RouteMatch match = now.table.match(RouteQuery.of(fields, null), () -> now.callers.caller(fields));
        return switch (match) {
            case RouteMatch.Forward to -> forward(request, to, response);
            case RouteMatch.Refused refused -> refuse(now, fields, refused.problem(), response);
        };
    }

    /** Answers {@code OPTIONS *}, which concerns this router and no single upstream (RFC 9110 §9.3.7). */
    private static RequestSink answerForServer(ResponseSink response) {
        response.head(new DefaultHttp2Headers().status("200")
                .set("allow", TargetForm.SERVED_METHODS)
                .set("content-length", "0"), true);
        return SwallowingSink.INSTANCE;
    }

    private RequestSink forward(RelayRequest request, RouteMatch.Forward to, ResponseSink response) {
        RouteConfig route = to.route().config();
        if (GuardedExchange.isTooLarge(route, request)) {
            response.fail(GuardedExchange.TOO_LARGE);
            return SwallowingSink.INSTANCE;
        }
        HostExchange hosts = to.route().hosts(to.address());
        UpstreamCall call = outgoing(to, request.fields(), hosts);
        ResponseSink asking = hosts == null ? response : HostExchangeSink.of(hosts, request, response);
        Relay upstream = (asked, asker) -> GuardedExchange.isNeeded(route, asked)
                ? GuardedExchange.open(upstreams, asked, call, asker, route)
                : upstreams.open(asked, call, asker);
        return BodyFirst.isFor(request)
                ? BodyFirst.hold(upstream, request, asking)
                : upstream.open(request, asking);
    }

    private RequestSink openTcp(Rules now, RelayRequest request, ResponseSink response) {
        UpstreamAddress to = now.tcp.match(request.fields());
        return to == null
                ? refuse(now, request.fields(), UpstreamProblem.NO_TCP, response)
                : upstreams.openTcp(request, to, response);
    }

    private RequestSink refuse(Rules now, Http2Headers fields, Problem problem, ResponseSink response) {
        if (problem.cause() == Cause.NOT_ALLOWED) {
            InetAddress caller = now.callers.caller(fields);
            audit.refused(caller, fields, problem);
        }
        response.fail(problem);
        return SwallowingSink.INSTANCE;
    }

    private UpstreamCall outgoing(RouteMatch.Forward to, Http2Headers fields, @Nullable HostExchange hosts) {
        Cors cors = to.route().cors();
        RouteConfig.Timeouts timeouts = to.route().config().timeouts();
        return new UpstreamCall(to.address(), to.target(), hosts == null ? null : hosts.hostHeader(),
                cors == null ? null : new BrowserAnswer(cors, fields),
                timeouts == null ? null : timeouts.head(), figures(to.route()));
    }

    private RouteFigures figures(Route route) {
        return figures.of(route.config().path());
    }

    /** Registers the meters of requests and of TLS with upstreams. */
    public void shown(Telemetry telemetry) {
        tls.shown(telemetry);
        figures.shown(telemetry);
    }

    Upstreams upstreams() {
        return upstreams;
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any
     * thread.
     */
    public long bufferedBytes() {
        return upstreams.buffered().sum();
    }

    /**
     * The number of connections to upstreams, including those being established. Callable from any thread.
     */
    public int openConnections() {
        return upstreams.connections().intValue();
    }

    /**
     * The number of upstream addresses that are excluded now because they failed. Callable from any thread.
     */
    public int ejectedAddresses() {
        return upstreams.ejected();
    }

    /**
     * Refuses new exchanges with {@code draining} and closes idle connections. Running exchanges continue.
     * Callable from any thread.
     */
    public void drain() {
        upstreams.drain();
    }

    /**
     * Ends all exchanges at once; they fail with {@code draining}. Callable from any thread. Returns before
     * the exchanges have ended.
     */
    @Override
    public void close() {
        upstreams.close();
    }

    /** The state that is replaced atomically. */
    private record Rules(RoutingConfig config, RouteTable table, TcpTable tcp, ForwardingRules callers) {
        /** The trust in upstreams. Reads files. */
        UpstreamTrust trust(TlsLink tls) {
            return UpstreamTrust.load(config.upstreams().ca(), table.upstreams(), tls);
        }

        static Rules of(RoutingConfig config) {
            return new Rules(config, RouteTable.of(config), TcpTable.of(config.tcp()), new ForwardingRules(
                    "culvert-router", config.trustedProxies().stream().map(Cidr::parse).toList()));
        }
    }
}
