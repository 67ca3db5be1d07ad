package dev.culvert.platform.directory.rules;

import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.directory.store.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one account, by entity and action.
 *
 * @param rules the rules that name the action, by entity, then by action
 * @param bytes about the memory that they take
 */
record RuleIndex(Map<String, Map<String, List<Entry>>> rules, int bytes) {
    /** What an object in memory takes beside its characters, about. */
    private static final int OBJECT_BYTES = 64;

    /** A rule, as decisions read it. */
    record Entry(String id, Set<String> teams, Set<String> users, Map<String, ValuePatterns> attributes) {
        static Entry of(Rule rule) {
            return new Entry(rule.id(), Set.copyOf(rule.teams()), Set.copyOf(rule.users()),
                    rule.attributes()
                            .entrySet()
                            .stream()
                            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey,
                                    wanted -> ValuePatterns.of(wanted.getValue()))));
        }

        /** Whether it is for a user in these teams. */
        boolean isFor(String user, Set<String> theirs) {
            return users.contains(user) || teams.stream().anyMatch(theirs::contains);
        }

        /** Whether each of its attributes has one of its values. */
        boolean covers(Function<String, List<String>> values) {
            return attributes.entrySet()
                    .stream()
                    .allMatch(wanted -> values.apply(wanted.getKey())
                            .stream()
                            .anyMatch(wanted.getValue()::match));
        }
    }

    static RuleIndex of(List<Rule> rules) {
        Map<String, Map<String, List<Entry>>> index = new HashMap<>();
        long bytes = OBJECT_BYTES;
        for (Rule rule : rules) {
            Entry entry = Entry.of(rule);
            rule.actions()
                    .stream()
                    .distinct()
                    .forEach(action -> index.computeIfAbsent(rule.entity(), absent -> new HashMap<>())
                            .computeIfAbsent(action, absent -> new ArrayList<>())
                            .add(entry));
            bytes += weight(rule);
        }
        return new RuleIndex(index, (int) Math.min(bytes, Integer.MAX_VALUE));
    }

    private static long weight(Rule rule) {
        long bytes = 8L * OBJECT_BYTES + (long) OBJECT_BYTES * rule.actions().size();
        for (List<String> texts : List.of(rule.teams(), rule.users())) {
            bytes += weight(texts);
        }
        for (List<String> values : rule.attributes().values()) {
            bytes += 2L * OBJECT_BYTES + weight(values);
        }
        return bytes;
    }

    private static long weight(List<String> texts) {
        return texts.stream().mapToLong(text -> OBJECT_BYTES + text.length()).sum();
    }

    /** The id of a rule that allows what a user in these teams asks for; null: none does. */
    @Nullable
    String allowing(AccessQuery query, Set<String> theirTeams) {
        List<Entry> named = rules.getOrDefault(query.entity(), Map.of())
                .getOrDefault(query.action(), List.of());
        Map<String, List<String>> told = new HashMap<>();
        for (Entry rule : named) {
            if (rule.isFor(query.user(), theirTeams)
                    && rule.covers(name -> told.computeIfAbsent(name, same -> values(query, same)))) {
                return rule.id();
            }
        }
        return null;
    }

    /**
     * An object may have many labels: {@code label} has the form {@code team=red,tier=web}, and each label is
     * compared.
     */
    private static List<String> values(AccessQuery query, String attribute) {
        String value = query.attributes().get(attribute);
        if (value == null) {
            return List.of();
        }
        return attribute.equals("label") ? List.of(value.split(",", -1)) : List.of(value);
    }
}
