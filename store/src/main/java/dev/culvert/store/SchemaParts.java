package dev.culvert.store;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * The tables of a database on a server, in parts that have a version each.
 *
 * @param parts for each part, by name, the statements of its versions: those that make the tables of the
 *     version before into its own. A released version is never edited. Applied in the order of the map
 */
public record SchemaParts(SequencedMap<String, List<List<String>>> parts) {
    public SchemaParts {
        parts = new LinkedHashMap<>(parts);
    }
}
