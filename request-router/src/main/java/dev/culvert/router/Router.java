package dev.culvert.router;

import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import dev.culvert.router.RouteConfig.Cors;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * Routes exchanges to upstreams as the routes and the cluster's policy say. May be shared by all event loops: each uses
 * connections of its own.
 */
public final class Router implements Relay, AutoCloseable {
    private final RouteTable table;
    private final TcpTable tcp;

    private final Upstreams upstreams;

    private Router(RouteTable table, TcpTable tcp, Upstreams upstreams) {
        this.table = table;
        this.tcp = tcp;
        this.upstreams = upstreams;
    }

    /** A router with the usual limits. */
    public static Router create(RoutingConfig config) {
        return create(config, UpstreamLimits.defaults());
    }

    /** A router. Starts nothing: connections are made when they are needed. */
    public static Router create(RoutingConfig config, UpstreamLimits limits) {
        RouteTable table = RouteTable.of(config);
        return new Router(table, TcpTable.of(config.tcp()),
                new Upstreams(limits, config.resolve(), UpstreamTls.system(table.tls())));
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Http2Headers fields = request.fields();
        if (request.kind() == RelayRequest.Kind.TCP) {
            return openTcp(request, tcp.match(fields), response);
        }
        return switch (table.match(String.valueOf(fields.path()))) {
            case RouteMatch.Forward to -> upstreams.open(request, outgoing(to, fields), response);
            case RouteMatch.Refused refused -> {
                response.fail(refused.problem());
                yield SwallowingSink.INSTANCE;
            }
        };
    }

    private RequestSink openTcp(RelayRequest request, @Nullable UpstreamAddress to, ResponseSink response) {
        if (to == null) {
            response.fail(UpstreamProblem.NO_TCP);
            return SwallowingSink.INSTANCE;
        }
        return upstreams.openTcp(request, to, response);
    }

    private static Outgoing outgoing(RouteMatch.Forward to, Http2Headers fields) {
        Cors cors = to.route().cors();
        return new Outgoing(to.address(), to.target(), to.route().hostHeader(),
                cors == null ? null : new BrowserAnswer(cors, fields));
    }

    Upstreams upstreams() {
        return upstreams;
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any thread.
     */
    public long bufferedBytes() {
        return upstreams.buffered().sum();
    }

    /** Open connections to upstreams, those being made included. Any thread. */
    public int openConnections() {
        return upstreams.connections().intValue();
    }

    /** Refuses new exchanges with {@code draining} and closes idle connections; running exchanges go on. Any thread. */
    public void drain() {
        upstreams.drain();
    }

    /** Ends everything at once: running exchanges fail with {@code draining}. Any thread; returns before it has happened. */
    @Override
    public void close() {
        upstreams.close();
    }
}
