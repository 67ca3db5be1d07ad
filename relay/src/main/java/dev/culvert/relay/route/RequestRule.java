package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathPattern;
import dev.culvert.http.path.PathReading;
import java.util.List;
import java.util.Map;

/**
 * Requests that the cluster's owner allows or denies: all paths below a path, with these methods. Immutable.
 *
 * @param path the beginning of the path; a variable matches any segment
 * @param methods the methods; empty: all
 */
public record RequestRule(PathPattern path, List<String> methods) {
    public RequestRule {
        if (path.toString().indexOf(';') >= 0) {
            throw new ConfigException("path",
                    "no ';': whether a server drops what follows it is unknown; name the segment without it");
        }
        methods = RouteRule.of(path.toString(), null, methods, Map.of()).methods();
    }

    /** Parses a path and methods. Throws ConfigException for {@code path} or {@code methods}. */
    public static RequestRule of(String path, List<String> methods) {
        return new RequestRule(PathPattern.parse(path), methods);
    }

    /** Whether these methods contain the method as it is written. */
    boolean takesMethod(String method) {
        return methods.isEmpty() || methods.contains(method);
    }

    /** Whether a server might take the method for one of these: some ignore case. */
    boolean mayTakeMethod(String method) {
        return methods.isEmpty() || methods.stream().anyMatch(method::equalsIgnoreCase);
    }

    /** Whether any of these readings of a path is below the rule's path. */
    boolean mayMean(List<PathReading> readings) {
        return readings.stream()
                .anyMatch(reading -> path.match(reading.text()) >= 0 || path.matches(reading.segments()));
    }

    /** Whether all of these readings of a path are below the rule's path. */
    boolean means(List<PathReading> readings) {
        return readings.stream()
                .allMatch(reading -> path.match(reading.text()) >= 0 && path.matches(reading.segments()));
    }
}
