package dev.culvert.server.direct;

import dev.culvert.http.forwarding.IdentityFields;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.relay.quota.StreamPlace;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A caller's request on its way to the upstream of a direct host. Holds its place among the concurrent
 * streams of the host until both halves have ended. Runs on the caller's event loop.
 */
final class DirectRequest implements RequestSink {
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);

    private final Upstreams upstreams;
    private final UpstreamAddress address;
    private final RuntimeQuota quota;
    private final RouteFigures figures;
    private final RelayRequest request;
    private final ResponseSink response;
    private final StreamPlace place;
    private RequestSink target = SwallowingSink.INSTANCE;
    private boolean done;

    DirectRequest(Upstreams upstreams, UpstreamAddress address, RuntimeQuota quota,
            RouteFigures figures, RelayRequest request, ResponseSink response) {
        this.upstreams = upstreams;
        this.address = address;
        this.quota = quota;
        this.figures = figures;
        this.request = request;
        this.response = response;
        this.place = new StreamPlace(quota.streams(), request.ended());
    }

    /** Takes a place among the host's streams, and sends the request. */
    void enter() {
        if (!place.take(request.caller().account(), this::shed)) {
            done = true;
            response.fail(crowded("this host has too many requests in flight"));
            return;
        }
        response.opened();
        String path = String.valueOf(request.fields().path());
        RequestSink opened = upstreams.open(request, new UpstreamCall(address, path, figures),
                new Answer());
        if (!done) {
            target = opened;
        }
    }

    /** Counts a request that gets no place, or loses it to another caller. Returns its problem. */
    private Problem crowded(String detail) {
        quota.usage().refused(RuntimeUsage.Refusal.STREAMS);
        return Problem.of(Cause.OVERLOADED, Hop.EDGE, detail).retryAfter(RETRY_OVERLOADED);
    }

    /** On any thread. */
    private void shed() {
        try {
            request.loop().execute(this::giveWay);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the caller's connection with it.
        }
    }

    private void giveWay() {
        if (!done && !place.isClosed()) {
            Problem why = crowded(
                    "this host has too many requests in flight: most are of this address, or this one was idle");
            cancel(why);
            response.fail(why);
        }
    }

    private void finish() {
        done = true;
        place.close();
    }

    // ---- the request ----

    @Override
    public void data(ByteBuf body) {
        if (done) {
            body.release();
        } else {
            place.touch();
            target.data(body);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (trailers != null) {
            IdentityFields.remove(trailers);
        }
        place.requestEnded();
        if (!done) {
            target.end(trailers);
        }
    }

    @Override
    public void cancel(Problem reason) {
        RequestSink to = target;
        finish();
        to.cancel(reason);
    }

    @Override
    public void consumed(int bytes) {
        place.touch();
        target.consumed(bytes);
    }

    /** The response side. It is a separate class because the methods of both sides have the same names. */
    private final class Answer implements ResponseSink {
        @Override
        public void carriedBy(@Nullable KeyExchange tls) {
            response.carriedBy(tls);
        }

        @Override
        public void times(int routerMicros, int upstreamMicros) {
            response.times(routerMicros, upstreamMicros);
        }

        @Override
        public void informational(Http2Headers head) {
            response.informational(head);
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            place.answered();
            if (ended) {
                place.responseEnded();
            }
            response.head(head, ended);
        }

        @Override
        public void data(ByteBuf body) {
            place.touch();
            response.data(body);
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            place.responseEnded();
            response.end(trailers);
        }

        @Override
        public void fail(Problem problem) {
            if (!done) {
                finish();
                response.fail(ofEdge(problem));
            }
        }

        @Override
        public void ending(Problem problem) {
            response.ending(ofEdge(problem));
        }

        @Override
        public void consumed(int bytes) {
            place.touch();
            response.consumed(bytes);
        }
    }

    /** What a router says of its own queue and end is said of the edge here. */
    private static Problem ofEdge(Problem problem) {
        if (problem.hop() != Hop.ROUTER) {
            return problem;
        }
        Problem own = Problem.of(problem.cause(), Hop.EDGE,
                problem.cause() == Cause.DRAINING ? "this host is going away" : problem.detail());
        return own.retryAfter(RETRY_OVERLOADED);
    }
}
