package dev.culvert.server;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.LoopCrossing;
import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A runtime's tunnel as the edge sees it. Streams are opened on the caller's own event loop where a session lives there. */
final class TunnelRelay implements Relay {
    /** A client that lost its tunnel is usually back by then. */
    private static final Duration RETRY_NO_TUNNEL = Duration.ofSeconds(5);
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);

    private final TunnelRegistry registry;
    private final String runtimeId;
    private final int maxStreams;

    /** @param maxStreams concurrent exchanges of this runtime, over all its connections */
    TunnelRelay(TunnelRegistry registry, String runtimeId, int maxStreams) {
        this.registry = registry;
        this.runtimeId = runtimeId;
        this.maxStreams = maxStreams;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        LiveSession session = registry.pick(runtimeId, request.loop());
        if (session == null) {
            return fail(response, Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "the runtime is not connected")
                    .retryAfter(RETRY_NO_TUNNEL));
        }
        if (session.loop.equals(request.loop())) {
            return open(session, request, response);
        }
        return LoopCrossing.open((there, back) -> open(session, there, back), session.loop, request,
                response);
    }

    private RequestSink open(LiveSession session, RelayRequest request, ResponseSink response) {
        if (!session.handler.canOpen() || registry.streamsOf(runtimeId) >= maxStreams) {
            boolean draining = session.handler.isDraining();
            return fail(response, Problem.of(draining ? Cause.DRAINING : Cause.OVERLOADED, Hop.TUNNEL,
                    draining ? "the tunnel is draining" : "the runtime has too many requests in flight")
                    .retryAfter(RETRY_OVERLOADED));
        }
        TunnelExchange exchange = new TunnelExchange(response);
        return exchange.open(session.handler, request)
                ? exchange
                : fail(response, Problem.of(Cause.HEAD_TOO_LARGE, Hop.TUNNEL,
                        "the runtime takes no head of this size"));
    }

    private static RequestSink fail(ResponseSink response, Problem problem) {
        response.fail(problem);
        return SWALLOW;
    }

    /** Takes what still comes after a failure. */
    private static final RequestSink SWALLOW = new RequestSink() {
        @Override
        public void data(ByteBuf body) {
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {}

        @Override
        public void cancel(Problem reason) {}

        @Override
        public void consumed(int bytes) {}
    };
}
