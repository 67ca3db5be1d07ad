package dev.culvert.client.dial;

import dev.culvert.client.identity.Backoff;
import java.time.Duration;

/**
 * Decides when the connections of one client may dial. While none is live, one of them leads. The others wait
 * until the leader has been live for {@link #SPACING}, at most for {@link #STUCK}. Two dials are at least
 * {@link #SPACING} apart. So a restarted server first receives one dial of each client. Thread-safe, because
 * connections use several event loops.
 */
public final class DialPace {
    /**
     * The time between the dials of two connections. The dials of one connection follow only its {@link
     * Backoff}.
     */
    public static final Duration SPACING = Duration.ofSeconds(1);
    /** Twice the longest back-off. A leader that takes longer was refused or hangs. */
    static final Duration STUCK = Duration.ofSeconds(30);

    private static final int NOBODY = -1;

    private int live;
    /** The time of the last change between "one is live" and "none is live". */
    private long sinceNanos;
    private int leader = NOBODY;
    private int lastDialler = NOBODY;
    private long lastDialNanos;

    /** Called when the connections begin to dial, at the start or after a pause. */
    public synchronized void begin(long nowNanos) {
        if (live == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /** Called when a connection is live. */
    public synchronized void live(long nowNanos) {
        if (live++ == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /** Called when a live connection has ended. */
    public synchronized void lost(long nowNanos) {
        if (--live == 0) {
            sinceNanos = nowNanos;
            leader = NOBODY;
        }
    }

    /**
     * The time for which connection {@code index} must wait before it asks again; zero if it may dial now.
     */
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
