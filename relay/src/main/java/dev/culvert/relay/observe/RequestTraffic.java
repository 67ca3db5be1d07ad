package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of the last minutes by runtime: their number, outcomes and times. It never waits, and a
 * request costs a few additions and no memory. At most {@link #MAX_RUNTIMES} runtimes have counters of their
 * own, about 24 KiB each if they are called all the time; further ones are counted together until an idle one
 * gives way. Safe for use by any thread.
 */
public final class RequestTraffic {
    /** The maximum number of runtimes that are counted apart. */
    public static final int MAX_RUNTIMES = 256;
    /** The name under which further runtimes are counted. No runtime has it: theirs have a slash. */
    public static final String OTHERS = "others";
    /** The time that one slot counts. */
    public static final Duration SLOT = Duration.ofSeconds(30);
    /** The number of slots that are kept, the current one included. */
    public static final int SLOTS = 30;

    private final Clock clock;
    private final long began;
    private final Map<String, TrafficRing> runtimes = new ConcurrentHashMap<>();
    private final TrafficRing others = new TrafficRing(OTHERS);
    private final AtomicLong swept = new AtomicLong();

    RequestTraffic(Clock clock) {
        this.clock = clock;
        this.began = clock.millis();
    }

    /**
     * Counts a request that has ended.
     *
     * @param runtime {@code account/name}; empty if no runtime has the host
     * @param status the status; 0: the caller left before a response
     * @param problem the gateway's problem; null: none
     */
    public void count(String runtime, int status, @Nullable Problem problem, long nanos) {
        long slot = slot();
        TrafficRing ring = runtimes.get(runtime);
        (ring == null ? ringOf(runtime, slot) : ring).at(slot).count(status, problem, nanos);
    }

    private TrafficRing ringOf(String runtime, long slot) {
        if (runtimes.size() >= MAX_RUNTIMES) {
            long last = swept.get();
            if (slot == last || !swept.compareAndSet(last, slot)) {
                return others;
            }
            runtimes.values().removeIf(ring -> ring.newest() <= slot - SLOTS);
            if (runtimes.size() >= MAX_RUNTIMES) {
                return others;
            }
        }
        return runtimes.computeIfAbsent(runtime, TrafficRing::new);
    }

    /** Sums up the last {@code slots} slots of each runtime that was called in them. */
    public List<TrafficSummary> byRuntime(int slots) {
        long now = slot();
        double seconds = seconds(slots);
        List<TrafficSummary> found = new ArrayList<>();
        for (TrafficRing ring : runtimes.values()) {
            add(ring, now, slots, seconds, found);
        }
        add(others, now, slots, seconds, found);
        return found;
    }

    private static void add(TrafficRing ring, long now, int slots, double seconds,
            List<TrafficSummary> found) {
        TrafficSlot sum = new TrafficSlot(now);
        ring.addTo(sum, now, slots);
        if (!sum.isEmpty()) {
            found.add(TrafficSummary.of(ring.name(), sum, seconds));
        }
    }

    /** Sums up the last {@code slots} slots of all runtimes together. */
    public TrafficSummary all(int slots) {
        return sum(slot(), slots, seconds(slots));
    }

    /** All runtimes together, one summary a slot, the oldest first. The current slot is left out. */
    public List<TrafficSummary> history() {
        long now = slot();
        List<TrafficSummary> found = new ArrayList<>();
        for (long slot = now - SLOTS + 1; slot < now; slot++) {
            found.add(sum(slot, 1, (double) SLOT.toSeconds()));
        }
        return found;
    }

    private TrafficSummary sum(long last, int slots, double seconds) {
        TrafficSlot sum = new TrafficSlot(last);
        runtimes.values().forEach(ring -> ring.addTo(sum, last, slots));
        others.addTo(sum, last, slots);
        return TrafficSummary.of("", sum, seconds);
    }

    private long slot() {
        return clock.millis() / SLOT.toMillis();
    }

    /** The time that the last slots have counted: the current one has only begun. */
    private double seconds(int slots) {
        long now = clock.millis();
        long from = Math.max(began, (now / SLOT.toMillis() - slots + 1) * SLOT.toMillis());
        return Math.max(1000, now - from) / 1000.0;
    }
}
