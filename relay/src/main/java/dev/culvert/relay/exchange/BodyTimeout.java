package dev.culvert.relay.exchange;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Computes the remaining wait for a caller's request body. A silent caller has a fixed time. Each second's
 * worth of bytes, at the minimum rate, adds a second, up to the initial time. So a caller that sends single
 * bytes is cut like a silent one, and a fast caller may pause. Only the time in which no bytes wait for the
 * upstream counts.
 */
final class BodyTimeout {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final long most;
    private long left;
    private long sinceNanos;
    private boolean waiting;

    /** @param silence the time that a silent caller has */
    BodyTimeout(Duration silence, long nowNanos) {
        this.most = silence.toNanos();
        this.left = most;
        this.sinceNanos = nowNanos;
        this.waiting = true;
    }

    /**
     * Bytes arrived, which now wait for the upstream.
     *
     * @param bytesPerSecond the minimum average rate; 0: any rate is enough
     */
    void came(int bytes, long bytesPerSecond, long nowNanos) {
        left = left(nowNanos);
        waiting = false;
        left = bytesPerSecond == 0 ? most : Math.min(most, left + bytes * SECOND / bytesPerSecond);
    }

    /** All received bytes were passed on, so the caller's time runs again. */
    void turn(long nowNanos) {
        if (!waiting) {
            waiting = true;
            sinceNanos = nowNanos;
        }
    }

    /** Returns the remaining time in nanoseconds; 0 if the caller was too slow. */
    long left(long nowNanos) {
        return waiting ? Math.max(0, left - (nowNanos - sinceNanos)) : left;
    }
}
