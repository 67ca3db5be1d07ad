package dev.culvert.relay.quota;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The limits that one runtime, or the server at run time, was given in place of the usual ones.
 *
 * @param values those that were given; the others are the usual ones
 */
public record OwnLimits(Map<RuntimeLimit, Long> values) {
    /** The usual ones, all of them. */
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

    /** The value that was given, or null. */
    public @Nullable Long value(RuntimeLimit limit) {
        return values.get(limit);
    }

    /** {@code requestsPerSecond=50 maxBodyBytes=1048576}; {@code defaults} when nothing was given. */
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
