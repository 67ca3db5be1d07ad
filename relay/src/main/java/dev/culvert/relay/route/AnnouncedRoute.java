package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.HostTemplate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a route that parts other than its router need. Immutable.
 *
 * @param rule the requests that the route takes
 * @param durable whether POST requests other than upgrades are stored before delivery; false: the route only
 *     takes requests away from durable routes
 * @param inOrder whether webhooks of the same source are delivered in order
 * @param maxBodyBytes the maximum body length, at least 1; longer bodies are refused with 413
 * @param verify how signatures are verified; null: they are not verified
 * @param sources the caller addresses that the route allows
 * @param host the template of the upstream's host; announcements carry only the lengths of its literal parts
 */
public record AnnouncedRoute(RouteRule rule, boolean durable, boolean inOrder, long maxBodyBytes,
        @Nullable Verification verify, SourceList sources, HostTemplate host) {
    /** The default maximum body length of a durable webhook: 25 MiB, GitHub's own limit. */
    public static final long USUAL_BODY_BYTES = 25L << 20;

    public AnnouncedRoute {
        if (maxBodyBytes < 1) {
            throw new ConfigException("maxBody", "1 byte or more");
        }
        if (!rule.path().variables().containsAll(host.variables())) {
            throw new ConfigException("to", "no variables but those of path");
        }
    }

    /** Creates a durable route for which only path and upstream are configured. */
    public static AnnouncedRoute durable(String path, String host) {
        return new AnnouncedRoute(RouteRule.of(path), true, true, USUAL_BODY_BYTES, null,
                SourceList.parse(List.of()), HostTemplate.of(host));
    }
}
