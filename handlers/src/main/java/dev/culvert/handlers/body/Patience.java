package dev.culvert.handlers.body;

import java.time.Duration;

/**
 * The total time to wait for a peer: 20 s, plus one second for each 32 KiB that the peer sent or accepted,
 * but at any moment at most one more minute. Because progress extends the time only at this rate, a trickling
 * peer cannot extend it without end. Not safe for use by several threads at once.
 */
public final class Patience {
    /** A pause that any peer may make, because its network fails for a moment or its machine is busy. */
    public static final Duration GRACE = Duration.ofSeconds(20);

    /** The minimum rate: a quarter of a megabit per second. */
    public static final int BYTES_PER_SECOND = 32 << 10;

    private static final long MAX_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long NANOS_PER_BYTE = Duration.ofSeconds(1).toNanos() / BYTES_PER_SECOND;

    private long leftNanos = GRACE.toNanos();

    /** Records that the peer was waited for. */
    public void waited(long nanos) {
        leftNanos -= nanos;
    }

    /** Records that the peer sent or accepted bytes. */
    public void moved(long bytes) {
        leftNanos = Math.min(MAX_NANOS, leftNanos + bytes * NANOS_PER_BYTE);
    }

    /** The remaining time; negative when it is over. */
    public long leftNanos() {
        return leftNanos;
    }
}
