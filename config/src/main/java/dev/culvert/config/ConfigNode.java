package dev.culvert.config;

import java.util.List;
import java.util.Map;

/** An untyped value of a source. Every node has its origin, so that an error can name the line. */
public sealed interface ConfigNode {
    /** The place where the value was written. */
    Origin origin();

    /** One value. A key without a value gives the empty text. */
    record Scalar(String text, Origin origin) implements ConfigNode {}

    /** A list. */
    record Items(List<ConfigNode> items, Origin origin) implements ConfigNode {
        public Items {
            items = List.copyOf(items);
        }
    }

    /**
     * Keys and values in the order in which they were written. The origin of an entry is the line of its key.
     */
    record Entries(Map<String, ConfigNode> entries, Origin origin) implements ConfigNode {}
}
