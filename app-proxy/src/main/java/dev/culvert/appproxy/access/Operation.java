package dev.culvert.appproxy.access;

import java.util.Map;

/**
 * An operation that needs permission.
 *
 * @param action the action, as {@code TERMINATE} or {@code VIEW}; the control plane's list is in
 *        docs/control-plane.md
 * @param entity the kind of object, as {@code workflows} or {@code gitopsApplications}
 * @param object the object's name for people and the audit log, as {@code argo/build-42} or {@code
 *        acme/shop@main}
 * @param attributes the attributes that rules may test: {@code cluster}, {@code namespace}, {@code runtime},
 *        {@code gitSource}, {@code label}, {@code product}, {@code integration}, {@code repository}, {@code
 *        branch}
 * @param remembered whether the answer is cached for later
 */
public record Operation(String action, String entity, String object, Map<String, String> attributes,
        boolean remembered) {
    public Operation {
        attributes = Map.copyOf(attributes);
    }

    public Operation(String action, String entity, String object, Map<String, String> attributes) {
        this(action, entity, object, attributes, true);
    }

    /**
     * An operation on one of many objects that a single request names. Its answer is not cached: made up
     * names would push the answers to other callers out.
     */
    public static Operation ofOne(String action, String entity, String object,
            Map<String, String> attributes) {
        return new Operation(action, entity, object, attributes, false);
    }

    /** The same operation, with another name of its object for people and the audit log. */
    public Operation of(String named) {
        return new Operation(action, entity, named, attributes, remembered);
    }
}
