package dev.culvert.routing;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.relay.upstream.DroppedBytes;
import dev.culvert.relay.upstream.RepeatableRequest;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An exchange on a route that limits bodies, ends silent exchanges, or retries. Sits between the requester
 * and the upstreams. Confined to the exchange's event loop.
 *
 * <pre>
 *  ATTEMPT ──head──────────────────────────► ANSWERED ──end, silence──► OVER
 *     │  ▲
 *     │  └── nothing was sent, or repeating it has no effect, and its body is still here: a moment later
 *     └──failed, body too large, cancelled─────────────────────────────► OVER
 * </pre>
 */
final class GuardedExchange implements RequestSink {
    static final Problem TOO_LARGE = Problem.of(Cause.BODY_TOO_LARGE, Hop.EDGE,
            "the body is larger than this route takes");
    private static final Problem SILENT = Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
            "nothing was sent in either direction for as long as this route allows");
    /**
     * The pause before the first retry. It doubles with each attempt, because a restarting upstream needs
     * some time.
     */
    private static final long FIRST_PAUSE_MILLIS = 25;

    private final Upstreams upstreams;
    private final RelayRequest request;
    private final UpstreamCall call;
    private final ResponseSink asker;
    private final RouteConfig route;
    private final long largestBody;
    private final Deadline silence;
    private final RepeatableRequest repeatable;
    private final DroppedBytes dropped;

    private RequestSink upstream = SwallowingSink.INSTANCE;
    private Attempt attempt = new Attempt();
    private @Nullable ScheduledFuture<?> pause;
    private int retries;
    private long received;
    /** The request bytes that were reported to the requester as consumed. */
    private long consumedBytes;
    private boolean answered;
    private boolean responseEnded;
    private boolean over;
    /**
     * Whether the response was complete before the request. The rest of the request is dropped and reported
     * as consumed.
     */
    private boolean swallowing;

    private GuardedExchange(Upstreams upstreams, RelayRequest request, UpstreamCall call,
            ResponseSink asker,
            RouteConfig route) {
        this.upstreams = upstreams;
        this.request = request;
        this.call = call;
        this.asker = asker;
        this.route = route;
        this.largestBody = largestBody(route, request);
        this.silence = new Deadline(request.loop());
        this.repeatable = new RepeatableRequest(request, route.retries() > 0);
        this.dropped = new DroppedBytes(request.loop(), asker::consumed);
    }

    /** Whether a route requires a guarded exchange for a request. */
    static boolean isNeeded(RouteConfig route, RelayRequest request) {
        RouteConfig.Timeouts timeouts = route.timeouts();
        return route.retries() > 0 || largestBody(route, request) < Long.MAX_VALUE
                || (timeouts != null && timeouts.idle() != null);
    }

    private static long largestBody(RouteConfig route, RelayRequest request) {
        CharSequence method = request.fields().method();
        return route.largestBody(method == null ? "" : method);
    }

    /** Whether a route refuses a request because of its announced length. */
    static boolean isTooLarge(RouteConfig route, RelayRequest request) {
        return ContentLength.of(request.fields()) > largestBody(route, request);
    }

    static RequestSink open(Upstreams upstreams, RelayRequest request, UpstreamCall call,
            ResponseSink asker,
            RouteConfig route) {
        GuardedExchange exchange = new GuardedExchange(upstreams, request, call, asker, route);
        exchange.attempt();
        return exchange;
    }

    /** Starts an attempt. The response for browsers is sent only after the last attempt has failed. */
    private void attempt() {
        Attempt begun = new Attempt();
        attempt = begun;
        RequestSink opened = upstreams.open(repeatable.head(), call.withoutAway(), begun);
        if (attempt == begun && !over) {
            upstream = opened;
            repeatable.sendTo(opened);
        }
    }

    // ---- the request ----

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        received += bytes;
        if (over) {
            body.release();
            if (swallowing) {
                drop();
            }
        } else if (received > largestBody) {
            body.release();
            give(TOO_LARGE);
        } else {
            touch();
            boolean waits = pause != null;
            repeatable.keep(body);
            if (waits) {
                body.release();
                afterKeeping();
            } else {
                upstream.data(body);
            }
        }
    }

    /** Handles data that can't be kept for a retry: between two attempts no upstream takes it. */
    private void afterKeeping() {
        if (!repeatable.isWhole()) {
            give(UpstreamProblem.NO_CONNECTION);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!over) {
            repeatable.end(trailers);
            if (pause == null) {
                upstream.end(trailers);
            }
            if (responseEnded) {
                finish();
            }
        }
    }

    @Override
    public void cancel(Problem reason) {
        if (!over) {
            RequestSink to = upstream;
            finish();
            to.cancel(reason);
        }
    }

    @Override
    public void consumed(int bytes) {
        touch();
        upstream.consumed(bytes);
    }

    // ---- the end ----

    /** Ends the exchange with a problem of the gateway. */
    private void give(Problem problem) {
        RequestSink to = upstream;
        finish();
        to.cancel(problem);
        if (responseEnded) {
            swallow();
        } else {
            tell(problem);
        }
    }

    /** Sends the problem to the requester, or to a browser in a form that it can read. */
    private void tell(Problem problem) {
        UpstreamCall.AwayAnswer away = answered ? null : call.away();
        if (away != null && away.answer(problem, asker)) {
            swallow();
        } else {
            asker.fail(problem);
        }
    }

    /**
     * Drops the rest of the request body but reports it as consumed, because the requester waits for that.
     */
    private void swallow() {
        swallowing = true;
        attempt = new Attempt(); // from now on only this attempt reports events
        drop();
    }

    private void drop() {
        int bytes = (int) (received - consumedBytes);
        consumedBytes = received;
        if (bytes > 0) {
            dropped.add(bytes);
        }
    }

    private void finish() {
        over = true;
        silence.close();
        repeatable.release();
        ScheduledFuture<?> waiting = pause;
        pause = null;
        if (waiting != null) {
            waiting.cancel(false);
        }
    }

    private void touch() {
        RouteConfig.Timeouts timeouts = route.timeouts();
        Duration idle = timeouts == null ? null : timeouts.idle();
        if (answered && !over && idle != null) {
            silence.set(idle, () -> give(SILENT));
        }
    }

    private boolean isWorthAnother(Problem problem) {
        boolean neverSent = problem.cause() == Cause.UPSTREAM_REFUSED;
        boolean repeats = problem.cause() == Cause.UPSTREAM_RESET && repeatable.isIdempotent();
        return retries < route.retries() && repeatable.isWhole() && (neverSent || repeats);
    }

    private void again() {
        pause = null;
        attempt();
    }

    /** Receives the response of one attempt. Events of earlier attempts are ignored. */
    private final class Attempt implements ResponseSink {
        private long taken;

        private boolean isStale() {
            return over || attempt != this;
        }

        @Override
        public void notReached(String trouble) {
            if (!isStale()) {
                asker.notReached(trouble);
            }
        }

        @Override
        public void opened() {
            if (!isStale()) {
                asker.opened();
            }
        }

        @Override
        public void carriedBy(@Nullable KeyExchange tls) {
            if (!isStale()) {
                asker.carriedBy(tls);
            }
        }

        @Override
        public void times(int routerMicros, int upstreamMicros) {
            if (!isStale()) {
                asker.times(routerMicros, upstreamMicros);
            }
        }

        @Override
        public void informational(Http2Headers head) {
            if (!isStale()) {
                asker.informational(head);
            }
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            if (!isStale()) {
                answered = true;
                repeatable.release();
                touch();
                responseEnded = ended;
                asker.head(head, ended);
                endIfBothHave();
            }
        }

        @Override
        public void data(ByteBuf body) {
            if (isStale()) {
                body.release();
            } else {
                touch();
                asker.data(body);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            if (!isStale()) {
                responseEnded = true;
                asker.end(trailers);
                endIfBothHave();
            }
        }

        private void endIfBothHave() {
            if (responseEnded) {
                silence.clear();
                if (repeatable.isEnded()) {
                    finish();
                }
            }
        }

        @Override
        public void fail(Problem problem) {
            if (isStale()) {
                return;
            }
            if (!answered && isWorthAnother(problem)) {
                upstream = SwallowingSink.INSTANCE;
                attempt = new Attempt();
                pause = request.loop()
                        .schedule(GuardedExchange.this::again, FIRST_PAUSE_MILLIS << retries++,
                                TimeUnit.MILLISECONDS);
                return;
            }
            finish();
            tell(problem);
        }

        /** A repeated body is consumed again but reported once. */
        @Override
        public void consumed(int bytes) {
            if (attempt == this) {
                taken += bytes;
                long news = taken - consumedBytes;
                if (news > 0) {
                    consumedBytes = taken;
                    touch();
                    asker.consumed((int) news);
                }
            }
        }
    }
}
