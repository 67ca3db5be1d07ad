package dev.culvert.relay.upstream;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the response bytes of one exchange that its asker has not consumed. Above a mark the upstream is not
 * read.
 */
public final class ResponseCredit {
    /** The unconsumed bytes at which reading from the upstream's socket stops. */
    public static final int HIGH_WATER_BYTES = 64 << 10;
    /** The unconsumed bytes below which reading starts again. */
    private static final int LOW_WATER_BYTES = 32 << 10;

    private final LongAdder buffered;
    private long unconsumed;

    public ResponseCredit(LongAdder buffered) {
        this.buffered = buffered;
    }

    public void received(int bytes) {
        unconsumed += bytes;
        buffered.add(bytes);
    }

    /** Returns the number of these bytes that were not counted as consumed before. */
    public int consumed(int bytes) {
        int known = (int) Math.min(bytes, unconsumed);
        unconsumed -= known;
        buffered.add(-known);
        return known;
    }

    /** Whether to stop reading from the upstream. */
    public boolean isUsedUp() {
        return unconsumed >= HIGH_WATER_BYTES;
    }

    /** Whether to read from the upstream again. */
    public boolean isThere() {
        return unconsumed < LOW_WATER_BYTES;
    }

    /** Stops counting the remaining bytes: no more follow, and they belong to the asker. */
    public void forget() {
        consumed(Integer.MAX_VALUE);
    }
}
