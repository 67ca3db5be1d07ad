package dev.culvert.client.dial;

import dev.culvert.client.identity.Backoff;
import java.time.Duration;

/**
 * When the connections of one client may dial. While none is live, one of them leads and the others wait until it has been
 * live for {@link #SPACING}, or for as long as {@link #STUCK}; and no two dial within {@link #SPACING} of one another. So a
 * server that comes back meets one dial of each client first. Thread-safe: connections live on several event loops.
 */
public final class DialPace {
    /** Between the dials of two connections. A connection's own dials follow its {@link Backoff} alone. */
    public static final Duration SPACING = Duration.ofSeconds(1);
    /** Twice the longest back-off: a leader that waits for longer was refused, or hangs. */
    static final Duration STUCK = Duration.ofSeconds(30);

    private static final int NOBODY = -1;

    private int live;
    /** Since when one is live, or none. */
    private long sinceNanos;
    private int leader = NOBODY;
    private int lastDialler = NOBODY;
    private long lastDialNanos;

    /** The connections begin to dial, at the start or after a pause. */
    public synchronized void begin(long nowNanos) {
        if (live == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /** A connection is live. */
    public synchronized void live(long nowNanos) {
        if (live++ == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /** One that was live is over. */
    public synchronized void lost(long nowNanos) {
        if (--live == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /** How long the connection {@code index} must wait yet before it asks again; zero: it dials now. */
    public synchronized Duration ask(int index, long nowNanos) {
        long wait = Math.max(afterOthers(index, nowNanos), afterLive(index, nowNanos));
        if (wait > 0) {
            return Duration.ofNanos(wait);
        }
        if (live == 0 && leader == NOBODY) {
            leader = index;
        }
        lastDialler = index;
        lastDialNanos = nowNanos;
        return Duration.ZERO;
    }

    private long afterOthers(int index, long nowNanos) {
        return lastDialler == NOBODY || lastDialler == index
                ? 0
                : SPACING.toNanos() - (nowNanos - lastDialNanos);
    }

    private long afterLive(int index, long nowNanos) {
        long since = nowNanos - sinceNanos;
        if (live > 0) {
            return SPACING.toNanos() - since;
        }
        return leader == NOBODY || leader == index || since >= STUCK.toNanos() ? 0 : SPACING.toNanos();
    }
}
