package dev.culvert.handlers.body;

import java.time.Duration;

/**
 * How long a peer may be waited for in all: 20 s, and a second more for each 32 KiB that it sent or took, but never more than
 * a minute from any moment on. Progress buys time only at that rate, so that a peer that trickles is not waited for without
 * end. Not safe for use by several threads at once.
 */
public final class Patience {
    /** A pause of any peer's: a network that is gone for a moment, a machine that is busy. */
    public static final Duration GRACE = Duration.ofSeconds(20);

    /** A quarter of a megabit a second. */
    public static final int BYTES_PER_SECOND = 32 << 10;

    private static final long MOST_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long NANOS_PER_BYTE = Duration.ofSeconds(1).toNanos() / BYTES_PER_SECOND;

    private long leftNanos = GRACE.toNanos();

    /** The peer was waited for. */
    public void waited(long nanos) {
        leftNanos -= nanos;
    }

    /** The peer sent or took bytes. */
    public void moved(long bytes) {
        leftNanos = Math.min(MOST_NANOS, leftNanos + bytes * NANOS_PER_BYTE);
    }

    /** How long the peer may still be waited for; below zero when it is over. */
    public long leftNanos() {
        return leftNanos;
    }
}
