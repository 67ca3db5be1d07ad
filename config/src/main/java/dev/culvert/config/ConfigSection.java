package dev.culvert.config;

import java.util.List;
import java.util.Map;

/**
 * A part of a file whose record is known later, for example the settings of a module that is found at the
 * start. A component of a configuration record, or a value of a map in one; only a file can set it.
 */
public final class ConfigSection {
    private final String key;
    private final ConfigNode.Entries entries;

    ConfigSection(String key, ConfigNode.Entries entries) {
        this.key = key;
        this.entries = entries;
    }

    /** A section without keys, for a module that the file does not mention. */
    public static ConfigSection empty(String key) {
        return new ConfigSection(key, new ConfigNode.Entries(Map.of(), Origin.DEFAULT));
    }

    /** The dotted key of the section, {@code handlers.greeting}. */
    public String key() {
        return key;
    }

    /** The place of the section, as error messages show it. */
    public Origin origin() {
        return entries.origin();
    }

    /**
     * Binds the section's keys.
     *
     * @throws ConfigErrors that lists all errors, with file, line and the whole key
     */
    public <T extends Record> T bind(Class<T> type) {
        return new Binder(List.of(Shape.group(type)), key + ".", entries).bind().value(type);
    }

    @Override
    public String toString() {
        return key;
    }
}
