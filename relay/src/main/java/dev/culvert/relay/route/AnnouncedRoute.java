package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.HostTemplate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A route, as far as others than its router have to know it. Immutable.
 *
 * @param rule which requests it takes
 * @param durable whether POST requests that are no upgrades are stored first; false: it only beats durable routes
 * @param inOrder whether webhooks of the same source are delivered in their order
 * @param maxBodyBytes at least 1; more is refused with 413
 * @param verify how signatures are verified; null: not at all
 * @param sources the addresses it may be asked from
 * @param host of the upstream; announcements carry its lengths alone
 */
public record AnnouncedRoute(RouteRule rule, boolean durable, boolean inOrder, long maxBodyBytes,
        @Nullable Verification verify, SourceList sources, HostTemplate host) {
    /** What a durable webhook may have where nothing else is said: 25 MiB, GitHub's own limit. */
    public static final long USUAL_BODY_BYTES = 25L << 20;

    public AnnouncedRoute {
        if (maxBodyBytes < 1) {
            throw new ConfigException("maxBody", "1 byte or more");
        }
        if (!rule.path().variables().containsAll(host.variables())) {
            throw new ConfigException("to", "no variables but those of path");
        }
    }

    /** A durable route as one that says nothing but its path and upstream. */
    public static AnnouncedRoute durable(String path, String host) {
        return new AnnouncedRoute(RouteRule.of(path), true, true, USUAL_BODY_BYTES, null,
                SourceList.parse(List.of()), HostTemplate.of(host));
    }
}
