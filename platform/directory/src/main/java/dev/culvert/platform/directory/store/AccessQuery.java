package dev.culvert.platform.directory.store;

import java.util.Map;

/**
 * May this user do that?
 *
 * @param user the user's id
 * @param attributes what the object is like
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
