package dev.culvert.config;

import java.util.List;
import java.util.Map;

/** A valid configuration: the records, and the origin of each value. */
public final class ConfigBinding {
    private final Map<Class<?>, Object> records;
    private final List<Effective> effective;
    private final List<String> warnings;

    ConfigBinding(Map<Class<?>, Object> records, List<Effective> effective, List<String> warnings) {
        this.records = Map.copyOf(records);
        this.effective = List.copyOf(effective);
        this.warnings = List.copyOf(warnings);
    }

    /** The record of a bound type. Throws IllegalArgumentException for any other type. */
    public <T extends Record> T value(Class<T> type) {
        Object bound = records.get(type);
        if (bound == null) {
            throw new IllegalArgumentException(type.getName() + " was not bound");
        }
        return type.cast(bound);
    }

    /** All effective values, in the order of the settings. */
    public List<Effective> effective() {
        return effective;
    }

    /** Warnings that do not make the configuration invalid: environment variables that match no setting. */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * One effective value.
     *
     * @param key the dotted key
     * @param value the value in configuration notation; {@code ***} for a secret
     */
    public record Effective(String key, String value, Origin origin) {}
}
