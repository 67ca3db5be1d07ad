package dev.culvert.platform.host.rest;

import java.util.HashMap;
import java.util.Map;

/**
 * What the rules of an account must allow for a call of {@link RestCall.Who#MEMBER}.
 *
 * @param entity the entity of the rules, as {@code pipelines}
 * @param action the action of the rules, as {@code UPDATE}
 * @param attributes attributes of the object: each with the name of the path's segment that has its value
 */
public record Right(String entity, String action, Map<String, String> attributes) {
    public Right {
        attributes = Map.copyOf(attributes);
    }

    /** A right on all objects of an entity. */
    public static Right of(String entity, String action) {
        return new Right(entity, action, Map.of());
    }

    /** A right on the object that a segment names. */
    public Right by(String attribute, String segment) {
        Map<String, String> all = new HashMap<>(attributes);
        all.put(attribute, segment);
        return new Right(entity, action, all);
    }

    /** The attributes with the values of a call. */
    Map<String, String> of(Map<String, String> segments) {
        Map<String, String> values = new HashMap<>();
        attributes.forEach((name, segment) -> values.put(name, segments.getOrDefault(segment, "")));
        return values;
    }
}
