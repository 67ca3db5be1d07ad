package dev.culvert.edge.route;

import java.util.List;
import java.util.Map;

/**
 * Requests that the cluster's owner allows or denies: those below a path, by these methods. Immutable.
 *
 * @param path the beginning of the path; a variable stands for any segment
 * @param methods empty: all
 */
public record RequestRule(PathPattern path, List<String> methods) {
    public RequestRule {
        methods = RouteRule.of(path.toString(), null, methods, Map.of()).methods();
    }

    /** Reads a path and methods. Throws ConfigException for {@code path} or {@code methods}. */
    public static RequestRule of(String path, List<String> methods) {
        return new RequestRule(PathPattern.parse(path), methods);
    }

    boolean takesMethod(String method) {
        return methods.isEmpty() || methods.contains(method);
    }
}
