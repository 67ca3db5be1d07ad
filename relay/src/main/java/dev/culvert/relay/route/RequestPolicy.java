package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathReading;
import java.util.List;

/**
 * Decides which methods and paths requests from outside may reach. A denied path is refused in every
 * spelling, and with every spelling of a method: rules examine all readings that servers could derive from a
 * path, see {@link PathReading}, with and without empty segments. A path is allowed only if one rule allows
 * all of these readings. Immutable, safe for use by any thread.
 *
 * @param allow the allowed requests; empty: everything that is not denied
 * @param deny the denied requests; takes precedence over {@code allow}
 */
public record RequestPolicy(List<RequestRule> allow, List<RequestRule> deny) {
    /** Allows everything that has a route. */
    public static final RequestPolicy OPEN = new RequestPolicy(List.of(), List.of());

    /** The maximum number of rules in each list: a request is compared with each. */
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

    /**
     * Whether a request is allowed. {@link dev.culvert.http.path.RawPath#wellFormed} must have accepted the
     * path.
     */
    public boolean allows(String method, String path) {
        if (allow.isEmpty() && deny.isEmpty()) {
            return true;
        }
        List<PathReading> readings = PathReading.all(path);
        return !readings.isEmpty()
                && deny.stream().noneMatch(rule -> rule.mayTakeMethod(method) && rule.mayMean(readings))
                && (allow.isEmpty()
                        || allow.stream().anyMatch(rule -> rule.takesMethod(method) && rule.means(readings)));
    }
}
