package dev.culvert.handlers.host;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The health of a handler, derived from the outcomes of its calls in the last minute. It is failing if at
 * least {@link #ENOUGH} calls failed and not more succeeded. Safe for use by any thread; the lock is held for
 * a few instructions.
 */
final class HandlerHealth {
    /**
     * The minimum number of failed calls: a single broken request does not make a handler count as failing.
     */
    static final int ENOUGH = 5;

    private static final long SLOT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int SLOTS = 6;

    private final LongSupplier nanos;
    private final List<Map<Kind, Integer>> counts = Stream
            .<Map<Kind, Integer>>generate(() -> new EnumMap<>(Kind.class))
            .limit(SLOTS)
            .toList();
    private long newest;

    /**
     * Starts without calls.
     *
     * @param nanos a clock like System.nanoTime()
     */
    HandlerHealth(LongSupplier nanos) {
        this.nanos = nanos;
        this.newest = Math.floorDiv(nanos.getAsLong(), SLOT_NANOS);
    }

    /** The effect of a call on the health. */
    enum Kind {
        GOOD, FAILED, TIMED_OUT, REJECTED
    }

    synchronized void count(Kind kind) {
        forget();
        slot(newest).merge(kind, 1, Integer::sum);
    }

    /** The reason why the handler counts as failing, for an operator. Null if it does not. */
    synchronized @Nullable String trouble() {
        forget();
        int failed = sum(Kind.FAILED);
        int timedOut = sum(Kind.TIMED_OUT);
        int rejected = sum(Kind.REJECTED);
        int bad = failed + timedOut + rejected;
        if (bad < ENOUGH || bad < sum(Kind.GOOD)) {
            return null;
        }
        return bad + " of " + (bad + sum(Kind.GOOD)) + " calls of the last minute: " + failed + " failed, "
                + timedOut
                + " timed out, " + rejected + " rejected";
    }

    private void forget() {
        long now = Math.floorDiv(nanos.getAsLong(), SLOT_NANOS);
        for (long slot = Math.max(newest + 1, now - SLOTS + 1); slot <= now; slot++) {
            slot(slot).clear();
        }
        newest = Math.max(newest, now);
    }

    private Map<Kind, Integer> slot(long number) {
        return counts.get(Math.floorMod(number, SLOTS));
    }

    private int sum(Kind kind) {
        return counts.stream().mapToInt(slot -> slot.getOrDefault(kind, 0)).sum();
    }
}
