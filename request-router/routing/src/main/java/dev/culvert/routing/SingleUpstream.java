package dev.culvert.routing;

import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.relay.upstream.UpstreamTrust;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Sends every exchange to one upstream: a client's {@code to:}. No routes and no policy; paths go through as they are.
 * May be shared by all event loops: each uses connections of its own.
 */
public final class SingleUpstream implements Relay, AutoCloseable {
    private final UpstreamAddress address;
    private final String prefix;
    private final Upstreams upstreams;

    private SingleUpstream(UpstreamTemplate to, Upstreams upstreams) {
        this.address = to.address();
        this.prefix = to.prefix();
        this.upstreams = upstreams;
    }

    /**
     * Takes {@code http://}, {@code https://} or {@code h2c://} URLs; a path in it is put before each request's. Throws ConfigException
     * for the key {@code to}.
     */
    public static SingleUpstream create(URI to) {
        return create(to, UpstreamLimits.defaults());
    }

    /** As {@link #create(URI)}, with other limits. */
    public static SingleUpstream create(URI to, UpstreamLimits limits) {
        UpstreamTemplate upstream = UpstreamTemplate.of(to);
        return create(upstream, limits, UpstreamTls.system(upstream.tls()));
    }

    static SingleUpstream create(UpstreamTemplate upstream, UpstreamLimits limits,
            @Nullable UpstreamTls tls) {
        return new SingleUpstream(upstream, new Upstreams(limits, UpstreamNames.DNS, UpstreamTrust.of(tls)));
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        if (request.kind() == RelayRequest.Kind.TCP) {
            response.fail(UpstreamProblem.NO_TCP);
            return SwallowingSink.INSTANCE;
        }
        String path = String.valueOf(request.fields().path());
        // RFC 9110 §7.1: the asterisk asks about the server as a whole, and has nothing before it
        String target = path.equals("*") ? path : prefix + path;
        return upstreams.open(request, new UpstreamCall(address, target, null, null), response);
    }

    /**
     * Bytes held for exchanges: of responses read and not yet consumed, of requests not yet written. Any thread.
     */
    public long bufferedBytes() {
        return upstreams.buffered().sum();
    }

    /** Open connections to the upstream, those being made included. Any thread. */
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
