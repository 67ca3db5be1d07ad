package dev.culvert.platform.directory.store;

import java.util.List;
import java.util.Map;

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
}
