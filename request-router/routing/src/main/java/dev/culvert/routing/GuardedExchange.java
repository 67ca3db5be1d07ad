package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.upstream.DeclaredLength;
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
 * An exchange on a route that bounds bodies, ends what is silent, or tries again. Stands between the asker and the upstreams.
 * On the exchange's event loop.
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
    /** Doubled with each attempt: an upstream that is started anew needs a moment. */
    private static final long FIRST_PAUSE_MILLIS = 25;

    private final Upstreams upstreams;
    private final RelayRequest request;
    private final UpstreamCall outgoing;
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
    /** Request bytes that the asker was told of. */
    private long consumedBytes;
    private boolean answered;
    private boolean responseEnded;
    private boolean over;
    /** The response was whole before the request was: what still comes of that is dropped, and told as consumed. */
    private boolean swallowing;

    private GuardedExchange(Upstreams upstreams, RelayRequest request, UpstreamCall outgoing,
            ResponseSink asker,
            RouteConfig route) {
        this.upstreams = upstreams;
        this.request = request;
        this.outgoing = outgoing;
        this.asker = asker;
        this.route = route;
        this.largestBody = largestBody(route, request);
        this.silence = new Deadline(request.loop());
        this.repeatable = new RepeatableRequest(request, route.retries() > 0);
        this.dropped = new DroppedBytes(request.loop(), asker::consumed);
    }

    /** Whether a route needs this for a request. */
    static boolean isNeeded(RouteConfig route, RelayRequest request) {
        RouteConfig.Timeouts timeouts = route.timeouts();
        return route.retries() > 0 || largestBody(route, request) < Long.MAX_VALUE
                || (timeouts != null && timeouts.idle() != null);
    }

    private static long largestBody(RouteConfig route, RelayRequest request) {
        CharSequence method = request.fields().method();
        return route.largestBody(method == null ? "" : method);
    }

    /** Whether a route refuses a request for the length that its head announces. */
    static boolean isTooLarge(RouteConfig route, RelayRequest request) {
        return DeclaredLength.of(request.fields()) > largestBody(route, request);
    }

    static RequestSink open(Upstreams upstreams, RelayRequest request, UpstreamCall outgoing,
            ResponseSink asker,
            RouteConfig route) {
        GuardedExchange exchange = new GuardedExchange(upstreams, request, outgoing, asker, route);
        exchange.attempt();
        return exchange;
    }

    /** An answer for browsers is given when the last attempt has failed. */
    private void attempt() {
        Attempt begun = new Attempt();
        attempt = begun;
        RequestSink opened = upstreams.open(repeatable.head(), outgoing.withoutAway(), begun);
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

    /** Between two attempts nothing takes what can't be kept. */
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

    /** Ends the exchange with a problem of ours. */
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

    /** The asker hears of it, or a browser gets what it can read. */
    private void tell(Problem problem) {
        UpstreamCall.AwayAnswer away = answered ? null : outgoing.away();
        if (away != null && away.answer(problem, asker)) {
            swallow();
        } else {
            asker.fail(problem);
        }
    }

    /** The asker waits for its last byte to be consumed, also when nobody wants it any more. */
    private void swallow() {
        swallowing = true;
        attempt = new Attempt(); // from now on it is told here alone
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

    /** What one attempt gives; what comes of an earlier one is of no interest any more. */
    private final class Attempt implements ResponseSink {
        private long taken;

        private boolean isStale() {
            return over || attempt != this;
        }

        @Override
        public void opened() {
            if (!isStale()) {
                asker.opened();
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

        /** A repeated body is consumed again, and told once. */
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
