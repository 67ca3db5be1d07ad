package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
import dev.culvert.http.problem.ProxyStatus;
import dev.culvert.relay.exchange.AccessEntry.End;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** What one exchange tells about itself: times on its response, its meters, its line of the access log. On its event loop. */
final class ExchangeRecord {
    private final EdgeContext shared;
    private final HopTimings times = new HopTimings();
    private final RequestFacts facts;
    private @Nullable Problem problem;
    private boolean complete;
    private boolean cut;

    ExchangeRecord(EdgeContext shared, RequestFacts facts) {
        this.shared = shared;
        this.facts = facts;
        shared.meters().begin();
    }

    HopTimings times() {
        return times;
    }

    /** Bytes of the request came, or went on; or it ended. */
    void passes(RequestHalf request) {
        boolean waits = request.unforwarded() > 0;
        times.waits(waits);
        if (!waits && request.isEnded()) {
            times.requestSent();
        }
    }

    /** The response's head is about to leave. */
    void answers(Http2Headers head) {
        times.answered();
        if (shared.reports().serverTiming()) {
            head.add("server-timing", times.serverTiming());
        }
    }

    /** Something went wrong; the first cause is the one to tell. */
    void problem(Problem noticed) {
        if (problem == null) {
            problem = noticed;
        }
        shared.telemetry().problem(noticed);
    }

    /** A problem is about to be the response. */
    void answers(Problem answer, ResponseProgress response) {
        times.answered(answer.hop());
        response.carry(ProxyStatus.of(ProxyStatus.EDGE, answer));
        if (shared.reports().serverTiming()) {
            response.carry(new Field("server-timing", times.serverTiming()));
        }
    }

    /** The caller has the whole response, as far as it depends on the gateway. */
    void completed() {
        complete = true;
    }

    /** The response does not end as it should. */
    void cut() {
        cut = true;
    }

    /** The exchange is over. */
    void end(String runtime, CharSequence requestId, ResponseProgress response, long bytesIn) {
        shared.meters()
                .end(runtime, response.status(), problem == null ? Hop.UPSTREAM : problem.hop(),
                        times.totalNanos());
        times.end();
        AccessLog log = shared.reports().accessLog();
        if (log != null) {
            End end = complete ? End.COMPLETE : cut ? End.RESET : End.CALLER_LEFT;
            log.add(new AccessEntry(System.currentTimeMillis(), requestId, runtime, facts.bounded(),
                    response.status(),
                    problem, bytesIn, response.bodyBytes(), end, times, times.totalNanos() / 1000));
        }
    }
}
