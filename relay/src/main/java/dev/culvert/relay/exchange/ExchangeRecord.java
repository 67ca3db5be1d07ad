package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
import dev.culvert.http.problem.ProxyStatus;
import dev.culvert.relay.exchange.AccessEntry.End;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.relay.tls.TlsLink;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * The reports about one exchange: times on its response, its meters, its line of the access log. Belongs to
 * its event loop.
 */
final class ExchangeRecord {
    private final EdgeContext shared;
    private final HopTimings times = new HopTimings();
    private final RequestFacts facts;
    private @Nullable Problem problem;
    private @Nullable KeyExchange onward;
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

    /** Records that bytes of the request arrived or were forwarded, or that it ended. */
    void passes(RequestHalf request) {
        boolean waits = request.unforwarded() > 0;
        times.waits(waits);
        if (!waits && request.isEnded()) {
            times.requestSent();
        }
    }

    /** Records that the response's head is about to be written. */
    void answers(Http2Headers head) {
        times.answered();
        if (shared.reporting().serverTiming()) {
            head.add("server-timing", times.serverTiming());
        }
    }

    /** Records what the connection agreed on that carries the request on. */
    void carriedBy(@Nullable KeyExchange tls) {
        onward = tls;
    }

    /** Records a problem. The first one is the cause that is logged. */
    void problem(Problem noticed) {
        if (problem == null) {
            problem = noticed;
        }
        shared.telemetry().problem(noticed);
    }

    /** Records that a problem is about to be the response. */
    void answers(Problem answer, ResponseProgress response) {
        times.answered(answer.hop());
        response.carry(ProxyStatus.of(ProxyStatus.EDGE, answer));
        if (shared.reporting().serverTiming()) {
            response.carry(new Field("server-timing", times.serverTiming()));
        }
    }

    /** Records that the response is complete, as far as the gateway can tell. */
    void completed() {
        complete = true;
    }

    /** Records that the response was truncated. */
    void cut() {
        cut = true;
    }

    /**
     * Reports the end of the exchange.
     *
     * @param caller the caller's connection
     */
    void end(String runtime, CharSequence requestId, ResponseProgress response, long bytesIn,
            Channel caller) {
        long nanos = times.totalNanos();
        shared.meters()
                .end(runtime, response.status(), problem == null ? Hop.UPSTREAM : problem.hop(), nanos);
        times.end();
        AccessLog log = shared.reporting().accessLog();
        RequestLog requests = shared.reporting().requests();
        if (requests != null) {
            requests.traffic().count(runtime, response.status(), problem, nanos);
        }
        boolean kept = requests != null && requests.keeps(problem);
        if (log == null && !kept) {
            return;
        }
        End end = complete ? End.COMPLETE : cut ? End.RESET : End.CALLER_LEFT;
        var entry = new AccessEntry(System.currentTimeMillis(), requestId, runtime, facts.bounded(),
                TlsLink.agreed(caller), onward, response.status(),
                problem, bytesIn, response.bodyBytes(), end, times, times.totalNanos() / 1000);
        if (requests != null && kept) {
            requests.add(entry);
        }
        if (log != null) {
            log.add(entry);
        }
    }
}
