package dev.culvert.relay.observe;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The counters of one runtime, slot by slot. Safe for use by any thread. */
final class TrafficRing {
    private final String name;
    private final AtomicReferenceArray<@Nullable TrafficSlot> slots = new AtomicReferenceArray<>(
            RequestTraffic.SLOTS);
    private volatile long newest;

    TrafficRing(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    /** The number of the newest slot that counted something. */
    long newest() {
        return newest;
    }

    /** The slot of a number, or the one that has replaced it. */
    TrafficSlot at(long number) {
        int index = (int) (number % RequestTraffic.SLOTS);
        TrafficSlot slot = slots.get(index);
        if (slot != null && slot.number() >= number) {
            return slot;
        }
        var next = new TrafficSlot(number);
        newest = number;
        return slots.compareAndSet(index, slot, next) ? next : at(number);
    }

    /** Adds up to {@code most} slots that end with {@code last}. */
    void addTo(TrafficSlot sum, long last, int most) {
        for (int i = 0; i < slots.length(); i++) {
            TrafficSlot slot = slots.get(i);
            if (slot != null && slot.number() <= last && slot.number() > last - most) {
                sum.add(slot);
            }
        }
    }
}
