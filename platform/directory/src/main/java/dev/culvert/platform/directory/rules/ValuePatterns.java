package dev.culvert.platform.directory.rules;

import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The values of a rule's attribute: exact ones, and prefixes, which end with {@code *} in the rule. A look-up
 * compares with one prefix only, so an object with many labels costs little.
 *
 * @param prefixes none begins with another one
 */
record ValuePatterns(Set<String> exact, NavigableSet<String> prefixes) {
    static ValuePatterns of(List<String> patterns) {
        var prefixes = new TreeSet<String>();
        patterns.stream()
                .filter(pattern -> pattern.endsWith("*"))
                .map(pattern -> pattern.substring(0, pattern.length() - 1))
                .sorted()
                .filter(prefix -> !covers(prefixes, prefix))
                .forEach(prefixes::add);
        return new ValuePatterns(patterns.stream()
                .filter(pattern -> !pattern.endsWith("*"))
                .collect(Collectors.toUnmodifiableSet()), prefixes);
    }

    boolean match(String value) {
        return exact.contains(value) || covers(prefixes, value);
    }

    /** Were a prefix of the value smaller than the greatest one below it, that one would begin with it. */
    private static boolean covers(NavigableSet<String> prefixes, String value) {
        String nearest = prefixes.floor(value);
        return nearest != null && value.startsWith(nearest);
    }
}
