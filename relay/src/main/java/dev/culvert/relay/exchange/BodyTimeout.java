package dev.culvert.relay.exchange;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long the edge still waits for a caller's request body. It waits for a silent caller as long as that is allowed, and a
 * second more for as many bytes as must come each second, never more than that again: so a caller that sends single bytes
 * is cut like a silent one, and one that was fast may pause. Only the time in which nothing waits for the upstream counts.
 */
final class BodyTimeout {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final long most;
    private long left;
    private long sinceNanos;
    private boolean waiting;

    /** @param silence what a silent caller is allowed */
    BodyTimeout(Duration silence, long nowNanos) {
        this.most = silence.toNanos();
        this.left = most;
        this.sinceNanos = nowNanos;
        this.waiting = true;
    }

    /**
     * Bytes came, which now wait for the upstream.
     *
     * @param bytesPerSecond what a caller must send on average; 0: anything will do
     */
    void came(int bytes, long bytesPerSecond, long nowNanos) {
        left = left(nowNanos);
        waiting = false;
        left = bytesPerSecond == 0 ? most : Math.min(most, left + bytes * SECOND / bytesPerSecond);
    }

    /** All that came was passed on: it is the caller's turn. */
    void turn(long nowNanos) {
        if (!waiting) {
            waiting = true;
            sinceNanos = nowNanos;
        }
    }

    /** The time that is left, in nanoseconds; 0 when the caller was too slow. */
    long left(long nowNanos) {
        return waiting ? Math.max(0, left - (nowNanos - sinceNanos)) : left;
    }
}
