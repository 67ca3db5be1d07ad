package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem.Hop;

/**
 * Measures the time of one exchange per hop, until the response's head, by a monotonic clock. The shares
 * follow one another, except the wait for windows, which is a part of the body's share.
 *
 * <pre>
 *  head read ──queue──► opened ──body──► request sent ──tunnel + router + upstream──► response head
 *                         └── window: bytes waited in the server ──┘
 * </pre>
 */
final class HopTimings {
    private final long began = System.nanoTime();
    private boolean opened;
    private boolean answered;
    private boolean waiting;
    private long openedNanos = began;
    private long sentNanos = began;
    private long answeredNanos = began;
    private long waitingSince;
    private long waitedNanos;
    private int router;
    private int upstream;
    private boolean told;
    private boolean over;

    /** The request leaves the queue. The last call counts. */
    void opened() {
        opened = true;
        openedNanos = System.nanoTime();
        sentNanos = openedNanos;
    }

    /** The last byte of the request was sent. */
    void requestSent() {
        if (!answered && !over) {
            sentNanos = System.nanoTime();
        }
    }

    /** Records whether bytes of the request wait in this server, for windows or for their turn. */
    void waits(boolean now) {
        if (waiting != now && !over) {
            long at = System.nanoTime();
            waiting = now;
            if (now) {
                waitingSince = at;
            } else {
                waitedNanos += at - waitingSince;
            }
        }
    }

    /** Records the times that the other side of the tunnel measured, in microseconds. */
    void behind(int routerMicros, int upstreamMicros) {
        told = true;
        router = routerMicros;
        upstream = upstreamMicros;
    }

    /** The response's head has arrived. */
    void answered() {
        if (!answered) {
            answered = true;
            answeredNanos = System.nanoTime();
        }
    }

    /**
     * A problem takes the place of a head. The time since the request was sent counts for the hop that
     * reported it.
     */
    void answered(Hop hop) {
        answered();
        if (opened && !told) {
            int rest = (int) Math.min(micros(answeredNanos - sentNanos), Integer.MAX_VALUE);
            router = hop == Hop.ROUTER ? rest : 0;
            upstream = hop == Hop.UPSTREAM ? rest : 0;
        }
    }

    /** The exchange is over. The values do not change any more, so any thread may read them. */
    void end() {
        waits(false);
        answered();
        over = true;
    }

    /** The time in this server before the request entered the tunnel: admission, and the hold. */
    long queueMicros() {
        return micros((opened ? openedNanos : answeredNanos) - began);
    }

    /**
     * The time from then until the last byte of the request's body was sent, or the response's head arrived.
     */
    long bodyMicros() {
        return micros(sentNanos - openedNanos);
    }

    /**
     * The time for which bytes of the request waited in this server, for windows or for their turn in the
     * tunnel.
     */
    long windowMicros() {
        return micros(waitedNanos + (waiting ? System.nanoTime() - waitingSince : 0));
    }

    /** The time of both directions of the tunnel, and all time that no other hop measured. */
    long tunnelMicros() {
        return opened && answered ? Math.max(0, micros(answeredNanos - sentNanos) - router - upstream) : 0;
    }

    long routerMicros() {
        return router;
    }

    long upstreamMicros() {
        return upstream;
    }

    /** The time since the request's head was read. */
    long totalNanos() {
        return System.nanoTime() - began;
    }

    /** Returns the {@code Server-Timing} value (W3C): the times known at the head, in milliseconds. */
    String serverTiming() {
        var text = new StringBuilder(160);
        metric(text, "culvert-queue", queueMicros());
        if (bodyMicros() > 0) {
            metric(text, "culvert-body", bodyMicros());
            metric(text, "culvert-window", windowMicros());
        }
        if (opened) {
            metric(text, "culvert-tunnel", tunnelMicros());
            metric(text, "culvert-router", router);
            metric(text, "culvert-upstream", upstream);
        }
        return text.toString();
    }

    private static void metric(StringBuilder text, String name, long micros) {
        text.append(text.isEmpty() ? "" : ", ")
                .append(name)
                .append(";dur=")
                .append(micros / 1000)
                .append('.');
        long thousandths = micros % 1000;
        text.append(thousandths < 100 ? "0" : "").append(thousandths < 10 ? "0" : "").append(thousandths);
    }

    private static long micros(long nanos) {
        return Math.max(0, nanos / 1000);
    }
}
