package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathReading;
import java.util.List;

/**
 * Which methods and paths may be reached from outside. What is denied is refused, however its path is written: rules look
 * at all that servers could make of it, see {@link PathReading}, with and without empty segments. What is to be allowed
 * must be so in all of these, by one rule. Immutable, safe for use by any thread.
 *
 * @param allow nothing listed: everything that is not denied
 * @param deny wins over {@code allow}
 */
public record RequestPolicy(List<RequestRule> allow, List<RequestRule> deny) {
    /** Everything may be reached that has a route. */
    public static final RequestPolicy OPEN = new RequestPolicy(List.of(), List.of());

    /** Requests look at them one by one. */
    private static final int MAX_RULES = 100;

    public RequestPolicy {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
        if (allow.size() > MAX_RULES) {
            throw new ConfigException("allow", "at most " + MAX_RULES + " rules");
        }
        if (deny.size() > MAX_RULES) {
            throw new ConfigException("deny", "at most " + MAX_RULES + " rules");
        }
    }

    /** Whether a request may go on. The path is one that {@link dev.culvert.http.path.RawPath#wellFormed} accepted. */
    public boolean allows(String method, String path) {
        if (allow.isEmpty() && deny.isEmpty()) {
            return true;
        }
        List<PathReading> readings = PathReading.all(path);
        return !readings.isEmpty()
                && deny.stream().noneMatch(rule -> rule.takesMethod(method) && rule.mayMean(readings))
                && (allow.isEmpty()
                        || allow.stream().anyMatch(rule -> rule.takesMethod(method) && rule.means(readings)));
    }
}
