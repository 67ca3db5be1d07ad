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
 */
public record Operation(String action, String entity, String object, Map<String, String> attributes) {
    public Operation {
        attributes = Map.copyOf(attributes);
    }
}
