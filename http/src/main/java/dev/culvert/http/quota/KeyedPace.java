package dev.culvert.http.quota;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how often something happens for each key: a burst at once, and then once in an interval. Safe for
 * use by any thread.
 */
public final class KeyedPace<K> {
    private final int burst;
    private final long interval;
    private final LongSupplier nanoClock;
    /** When the next event of a key would find the whole burst again. */
    private final Map<K, Long> fullAt;

    /**
     * @param burst the number of events at once
     * @param maxKeys the number of remembered keys; the one with the oldest event is forgotten
     */
    public KeyedPace(int burst, Duration interval, int maxKeys, LongSupplier nanoClock) {
        this.burst = burst;
        this.interval = interval.toNanos();
        this.nanoClock = nanoClock;
        this.fullAt = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, Long> eldest) {
                return size() > maxKeys;
            }
        };
    }

    /** Takes an event. Returns how long to wait if it is too early, else null. */
    public synchronized @Nullable Duration take(K key) {
        long now = nanoClock.getAsLong();
        Long before = fullAt.get(key);
        long from = before == null || before - now < 0 ? now : before;
        long early = from + interval - now - burst * interval;
        if (early > 0) {
            return Duration.ofNanos(early);
        }
        fullAt.put(key, from + interval);
        return null;
    }

    /** As {@link #take}, but takes nothing. */
    public synchronized @Nullable Duration early(K key) {
        Long before = fullAt.get(key);
        long early = before == null ? 0 : before + interval - nanoClock.getAsLong() - burst * interval;
        return early > 0 ? Duration.ofNanos(early) : null;
    }
}
