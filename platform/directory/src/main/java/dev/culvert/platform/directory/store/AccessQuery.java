package dev.culvert.platform.directory.store;

import java.util.Map;

/**
 * A permission query: may a user run an action on an object.
 *
 * @param user the user's id
 * @param attributes the object's attributes
 */
public record AccessQuery(String user, String entity, String action, Map<String, String> attributes) {
    private static final int MAX_ATTRIBUTES = 32;

    public AccessQuery {
        attributes = Map.copyOf(attributes);
        if (attributes.size() > MAX_ATTRIBUTES) {
            throw new IllegalArgumentException("attributes: at most " + MAX_ATTRIBUTES);
        }
    }
}
