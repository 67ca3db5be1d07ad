package dev.culvert.relay.upstream;

import java.util.concurrent.atomic.LongAdder;

/** Counts the response bytes of one exchange that its asker has not consumed: beyond a mark the upstream is not read. */
public final class ResponseCredit {
    /** Unconsumed bytes from which on the upstream's socket is no longer read. */
    public static final int HIGH_WATER_BYTES = 64 << 10;
    /** Unconsumed bytes below which it is read again. */
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

    /** Returns how many of them were not consumed before. */
    public int consumed(int bytes) {
        int known = (int) Math.min(bytes, unconsumed);
        unconsumed -= known;
        buffered.add(-known);
        return known;
    }

    /** Whether to stop reading. */
    public boolean isUsedUp() {
        return unconsumed >= HIGH_WATER_BYTES;
    }

    /** Whether to read again. */
    public boolean isThere() {
        return unconsumed < LOW_WATER_BYTES;
    }

    /** What is left is the asker's own: nothing more will come. */
    public void forget() {
        consumed(Integer.MAX_VALUE);
    }
}
