package dev.culvert.config;

import java.util.List;
import java.util.Map;

/** A configuration that is valid as a whole: the records, and where each value came from. */
public final class ConfigBinding {
    private final Map<Class<?>, Object> records;
    private final List<Effective> effective;
    private final List<String> warnings;

    ConfigBinding(Map<Class<?>, Object> records, List<Effective> effective, List<String> warnings) {
        this.records = Map.copyOf(records);
        this.effective = List.copyOf(effective);
        this.warnings = List.copyOf(warnings);
    }

    /** The record of a type that was asked for. Throws IllegalArgumentException for any other type. */
    public <T extends Record> T value(Class<T> type) {
        Object bound = records.get(type);
        if (bound == null) {
            throw new IllegalArgumentException(type.getName() + " was not bound");
        }
        return type.cast(bound);
    }

    /** Every value in force, in the order of the settings. */
    public List<Effective> effective() {
        return effective;
    }

    /** What is odd but not wrong: variables that no setting has. */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * One value in force.
     *
     * @param key dotted
     * @param value as one would write it; {@code ***} for a secret
     */
    public record Effective(String key, String value, Origin origin) {}
}
