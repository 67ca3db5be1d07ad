package dev.culvert.server.access;

import dev.culvert.http.path.PathReading;
import java.util.List;

/**
 * The path of a request: literally, and in all ways in which servers may read it, as the cluster's own policy
 * reads it, too ({@link PathReading}). A rule applies only if it is the same in all of them.
 *
 * @param raw the literal segments, empty ones included
 * @param readings the segments of each reading, without empty ones; empty: no rule can safely match the path
 */
record CallerPath(List<String> raw, List<List<String>> readings) {
    /** @param target a request's target: a path and perhaps a query; {@code *} is like {@code /} */
    static CallerPath of(String target) {
        int query = target.indexOf('?');
        String text = query < 0 ? target : target.substring(0, query);
        String path = text.startsWith("/") ? text : "/";
        return new CallerPath(List.of(path.substring(1).split("/", -1)),
                PathReading.all(path).stream().map(PathReading::segments).distinct().toList());
    }

    /** Whether the path has dot segments or is obscured, so that no rule can safely match it. */
    boolean isDevious() {
        return readings.isEmpty();
    }
}
