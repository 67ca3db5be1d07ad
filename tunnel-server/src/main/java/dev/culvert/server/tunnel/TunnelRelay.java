package dev.culvert.server.tunnel;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.relay.BodyFirst;
import dev.culvert.relay.LoopCrossing;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.relay.quota.StreamPlaces;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.tunnel.TunnelRequest.Touched;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Relays the edge's requests into a runtime's tunnel. Opens streams on the caller's own event loop if a
 * session runs there.
 */
public final class TunnelRelay implements Relay {
    private static final String CROWDED = "the runtime has too many requests in flight";
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);
    /** By then a client that lost its tunnel has usually reconnected. */
    static final Duration RETRY_NO_TUNNEL = Duration.ofSeconds(5);

    private final TunnelRegistry registry;
    private final RegisteredRuntime runtime;
    private final RuntimeQuota quota;

    public TunnelRelay(TunnelRegistry registry, RegisteredRuntime runtime, RuntimeQuota quota) {
        this.registry = registry;
        this.runtime = runtime;
        this.quota = quota;
    }

    /**
     * A request that announces a body takes no stream until the body begins, unless the runtime is
     * disconnected.
     */
    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        if (!BodyFirst.isFor(request)) {
            return enter(request, response);
        }
        return pick(request.loop()) == null && !isExpected()
                ? fail(response, noTunnel())
                : BodyFirst.hold(this::enter, request, response);
    }

    /** The problem of a runtime without a tunnel. */
    Problem noTunnel() {
        Instant lost = registry.lostAt(runtime.id());
        String since = lost != null
                ? "gone since " + lost.truncatedTo(ChronoUnit.SECONDS)
                : runtime.connected() == null
                        ? "its client has never connected"
                        : "its client has not connected since this server started";
        return Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "the runtime is not connected: " + since)
                .retryAfter(RETRY_NO_TUNNEL);
    }

    private RequestSink enter(RelayRequest request, ResponseSink response) {
        var sent = new TunnelRequest(this, request, response);
        sent.enter();
        return sent;
    }

    /** The places of the runtime's concurrent streams. */
    StreamPlaces streams() {
        return quota.streams();
    }

    /** Counts a request that finds no place among the streams. Returns its problem. */
    Problem crowded() {
        return crowded(CROWDED);
    }

    /** Counts a request that gets no stream, or loses it to another caller. Returns its problem. */
    Problem crowded(String detail) {
        quota.usage().refused(RuntimeUsage.Refusal.STREAMS);
        return Problem.of(Cause.OVERLOADED, Hop.TUNNEL, detail).retryAfter(RETRY_OVERLOADED);
    }

    String runtimeId() {
        return runtime.id();
    }

    HeldRequests held() {
        return registry.held();
    }

    /** Whether the tunnel is expected back soon. */
    boolean isExpected() {
        return registry.isExpected(runtime);
    }

    @Nullable
    LiveSession pick(EventLoop loop) {
        return registry.pick(runtime.id(), loop);
    }

    /**
     * Opens a stream, or fails. A failure notifies {@code origin} before {@code response}.
     *
     * @return the sink of the request's body
     */
    RequestSink open(LiveSession session, RelayRequest request, ResponseSink response, TunnelRequest origin) {
        if (session.loop.equals(request.loop())) {
            return openThere(session, request, response, origin);
        }
        return LoopCrossing.open((there, back) -> openThere(session, there, back, origin), session.loop,
                request, response);
    }

    private RequestSink openThere(LiveSession session, RelayRequest request, ResponseSink response,
            TunnelRequest origin) {
        if (session.handler.isDraining() || !session.handler.isLive()) {
            session.stopAccepting(); // the next request picks another session
            origin.touched(Touched.MISSED);
            return fail(response, Problem.of(Cause.DRAINING, Hop.TUNNEL, "the tunnel is draining")
                    .retryAfter(RETRY_OVERLOADED));
        }
        if (!session.handler.canOpen()) {
            origin.touched(Touched.CROWDED);
            return fail(response, Problem.of(Cause.OVERLOADED, Hop.TUNNEL, CROWDED));
        }
        if (request.kind() == RelayRequest.Kind.TCP && !session.handler.bothCan(Hello.TCP)) {
            return fail(response, Problem.of(Cause.NOT_ALLOWED, Hop.TUNNEL,
                    "the version of the runtime's client does not support raw connections"));
        }
        TunnelExchange exchange = new TunnelExchange(session.loop, response, origin);
        return exchange.open(session.handler, request)
                ? exchange
                : fail(response, Problem.of(Cause.HEAD_TOO_LARGE, Hop.TUNNEL,
                        "the runtime takes no head of this size"));
    }

    /** Fails an exchange. Returns a sink that discards the rest of its request. */
    public static RequestSink fail(ResponseSink response, Problem problem) {
        response.fail(problem);
        return SwallowingSink.INSTANCE;
    }
}
