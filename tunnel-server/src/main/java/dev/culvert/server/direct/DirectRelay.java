package dev.culvert.server.direct;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.BodyFirst;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import java.util.function.Supplier;

/** Relays the edge's requests to the upstream of a direct host, on the caller's own event loop. */
final class DirectRelay implements Relay {
    private static final Problem NO_TCP = Problem.of(Cause.NOT_ALLOWED, Hop.EDGE,
            "this host has no tunnel, and takes no raw connections");

    private final Supplier<Upstreams> upstreams;
    private final UpstreamAddress address;
    private final RuntimeQuota quota;
    private final RouteFigures figures;

    /**
     * @param upstreams the present connections; asked for each request, as a change may replace them
     * @param figures log the upstream's faults
     */
    DirectRelay(Supplier<Upstreams> upstreams, UpstreamAddress address, RuntimeQuota quota,
            RouteFigures figures) {
        this.upstreams = upstreams;
        this.address = address;
        this.quota = quota;
        this.figures = figures;
    }

    /** A request that announces a body takes no connection until the body begins. */
    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        if (request.kind() == RelayRequest.Kind.TCP) {
            response.fail(NO_TCP);
            return SwallowingSink.INSTANCE;
        }
        return BodyFirst.isFor(request)
                ? BodyFirst.hold(this::enter, request, response)
                : enter(request, response);
    }

    private RequestSink enter(RelayRequest request, ResponseSink response) {
        var sent = new DirectRequest(upstreams.get(), address, quota, figures, request, response);
        sent.enter();
        return sent;
    }
}
