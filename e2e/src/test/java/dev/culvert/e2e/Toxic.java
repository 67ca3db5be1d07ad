package dev.culvert.e2e;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One fault of one direction, as Toxiproxy's API describes it.
 *
 * @param type one of {@link #TYPES}
 * @param upstream whether it is on the way to the upstream, not on the way back
 * @param attributes numbers by name, in Toxiproxy's units
 */
record Toxic(String name, String type, boolean upstream, Map<String, Long> attributes) {
    static final Set<String> TYPES = Set.of("latency", "bandwidth", "slow_close", "timeout",
            "reset_peer", "slicer", "limit_data");

    Toxic {
        if (!TYPES.contains(type)) {
            throw new IllegalArgumentException("toxic type: " + type + " (expected: one of " + TYPES + ")");
        }
        attributes = Map.copyOf(attributes);
    }

    boolean is(String other) {
        return type.equals(other);
    }

    long value(String attribute) {
        return attributes.getOrDefault(attribute, 0L);
    }

    /** An attribute in milliseconds. */
    Duration millis(String attribute) {
        return Duration.ofMillis(value(attribute));
    }

    /** A value about {@code average}, at most {@code spread} away, never below {@code least}. */
    long about(String average, String spread, long least) {
        long most = value(spread);
        long off = most == 0 ? 0 : ThreadLocalRandom.current().nextLong(-most, most + 1);
        return Math.max(least, value(average) + off);
    }
}
