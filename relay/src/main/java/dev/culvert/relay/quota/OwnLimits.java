package dev.culvert.relay.quota;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Limits that override the defaults: those of one runtime, or those of the server that were changed at run
 * time.
 *
 * @param values the overridden limits; the others keep their defaults
 */
public record OwnLimits(Map<RuntimeLimit, Long> values) {
    /** Overrides no limit. */
    public static final OwnLimits NONE = new OwnLimits(Map.of());

    public OwnLimits {
        values.forEach((limit, value) -> {
            if (!limit.takes(value)) {
                throw new IllegalArgumentException(
                        limit.key() + ": " + value + " (expected: " + limit.accepts() + ")");
            }
        });
        Map<RuntimeLimit, Long> ordered = new EnumMap<>(RuntimeLimit.class);
        ordered.putAll(values);
        values = Map.copyOf(ordered);
    }

    /** Returns the value of an overridden limit, or null. */
    public @Nullable Long value(RuntimeLimit limit) {
        return values.get(limit);
    }

    /**
     * Returns {@code requestsPerSecond=50 maxBodyBytes=1048576}, or {@code defaults} if no limit is
     * overridden.
     */
    @Override
    public String toString() {
        return values.isEmpty()
                ? "defaults"
                : values.entrySet()
                        .stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(entry -> entry.getKey().key() + '=' + entry.getValue())
                        .collect(Collectors.joining(" "));
    }
}
