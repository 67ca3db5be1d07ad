package dev.culvert.config;

import java.util.List;
import java.util.Map;

/** A value as a source wrote it, before it has a type. Every node knows its origin, so that an error can name the line. */
public sealed interface ConfigNode {
    /** Where it was written. */
    Origin origin();

    /** One value; the empty text is also what a key with nothing behind it gives. */
    record Scalar(String text, Origin origin) implements ConfigNode {}

    /** A list. */
    record Items(List<ConfigNode> items, Origin origin) implements ConfigNode {
        public Items {
            items = List.copyOf(items);
        }
    }

    /** Keys and values in the order written; the origin of an entry is the line of its key. */
    record Entries(Map<String, ConfigNode> entries, Origin origin) implements ConfigNode {}
}
