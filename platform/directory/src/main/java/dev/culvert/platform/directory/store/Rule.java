package dev.culvert.platform.directory.store;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A rule that allows actions on an entity, for objects with certain attributes. Rules only allow; actions
 * without a matching rule are denied.
 *
 * @param teams the teams whose members it allows
 * @param users the users that it allows
 * @param attributes the required attributes; the query must have each with one of the values. A value that
 *        ends with {@code *} is a prefix
 */
public record Rule(String id, String entity, List<String> actions, List<String> teams, List<String> users,
        Map<String, List<String>> attributes) {
    private static final int MAX_ITEMS = 100;
    private static final int MAX_VALUE_CHARS = 512;

    public Rule {
        KnownActions.require("entity", entity, KnownActions.ENTITIES);
        actions = List.copyOf(actions);
        teams = List.copyOf(teams);
        users = List.copyOf(users);
        attributes = Map.copyOf(attributes);
        actions.forEach(action -> KnownActions.require("actions", action, KnownActions.ACTIONS));
        if (actions.isEmpty() || teams.size() + users.size() == 0) {
            throw new IllegalArgumentException(
                    "actions, teams, users: a rule needs one action, and one team or user, at least");
        }
        attributes.forEach(Rule::check);
        if (actions.size() > MAX_ITEMS || teams.size() > MAX_ITEMS || users.size() > MAX_ITEMS) {
            throw new IllegalArgumentException("actions, teams, users: at most " + MAX_ITEMS + " each");
        }
    }

    private static void check(String name, List<String> values) {
        KnownActions.require("attributes", name, KnownActions.ATTRIBUTES);
        if (values.isEmpty() || values.size() > MAX_ITEMS
                || values.stream().anyMatch(value -> value.length() > MAX_VALUE_CHARS)) {
            throw new IllegalArgumentException("attributes." + name + ": 1.." + MAX_ITEMS
                    + " values of at most " + MAX_VALUE_CHARS + " characters");
        }
    }

    /** Whether the rule allows a query of a user in these teams. */
    boolean allows(AccessQuery question, Set<String> theirTeams) {
        return entity.equals(question.entity()) && actions.contains(question.action())
                && (users.contains(question.user()) || teams.stream().anyMatch(theirTeams::contains))
                && attributes.entrySet()
                        .stream()
                        .allMatch(wanted -> told(question, wanted.getKey()).stream()
                                .anyMatch(value -> matches(wanted.getValue(), value)));
    }

    /**
     * An object may have many labels: {@code label} has the form {@code team=red,tier=web}, and each label is
     * compared.
     */
    private static List<String> told(AccessQuery question, String attribute) {
        String value = question.attributes().get(attribute);
        if (value == null) {
            return List.of();
        }
        return attribute.equals("label") ? List.of(value.split(",", -1)) : List.of(value);
    }

    private static boolean matches(List<String> patterns, String value) {
        return patterns.stream()
                .anyMatch(pattern -> pattern.endsWith("*")
                        ? value.startsWith(pattern.substring(0, pattern.length() - 1))
                        : pattern.equals(value));
    }
}
