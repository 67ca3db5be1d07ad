package dev.culvert.platform.runtimes;

import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how often the errors of one runtime change: ten times at once, and then once in six seconds. Each
 * change is an event that all followers of the account read. Of this process, and callable from any thread.
 */
final class ReportPace {
    static final int BURST = 10;
    static final Duration INTERVAL = Duration.ofSeconds(6);
    /** The number of remembered runtimes. The one that reported the longest time ago is forgotten. */
    static final int MAX_RUNTIMES = 10_000;

    private final Clock clock;
    /** When the next change of a runtime would find all ten again, in milliseconds since 1970. */
    private final Map<String, Long> fullAt = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_RUNTIMES;
        }
    };

    ReportPace(Clock clock) {
        this.clock = clock;
    }

    /** Takes a change. Returns how long to wait if it is too early, else null. */
    synchronized @Nullable Duration take(String account, String runtime) {
        String key = account + "/" + runtime;
        long now = clock.millis();
        long after = Math.max(now, fullAt.getOrDefault(key, now)) + INTERVAL.toMillis();
        long early = after - now - BURST * INTERVAL.toMillis();
        if (early > 0) {
            return Duration.ofMillis(early);
        }
        fullAt.put(key, after);
        return null;
    }
}
