package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.router.RouteConfig.Cors;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A route, ready to match. Immutable. */
final class Route {
    private static final RouteMatch NOT_A_LABEL = new RouteMatch.Refused(Problem.of(Cause.BAD_REQUEST,
            Hop.EDGE,
            "namespace and event source must be DNS labels: letters a-z, digits and hyphens, at most 63"));
    private static final RouteMatch NOT_ALLOWED = new RouteMatch.Refused(
            Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
                    "the cluster's policy does not allow this event source"));

    private final PathPattern pattern;
    private final UpstreamTemplate upstream;
    private final boolean stripPrefix;
    private final @Nullable String hostHeader;
    private final @Nullable Cors cors;
    private final UpstreamAddress fixed;

    Route(RouteConfig config) {
        pattern = PathPattern.parse(config.path());
        upstream = UpstreamTemplate.parse(config.to());
        stripPrefix = config.stripPrefix();
        hostHeader = config.hostHeader();
        cors = config.browserAnswer();
        fixed = upstream.address();
    }

    PathPattern pattern() {
        return pattern;
    }

    boolean tls() {
        return upstream.tls();
    }

    /** The Host to send; null: the caller's. */
    @Nullable
    String hostHeader() {
        return hostHeader;
    }

    /** What browsers are told while the upstream is away; null: nothing. */
    @Nullable
    Cors cors() {
        return cors;
    }

    /**
     * Matches a well-formed path.
     *
     * @param query as it came with its question mark, or empty
     * @return null when another route may match
     */
    @Nullable
    RouteMatch match(String path, String query, AllowList allowed) {
        int rest = pattern.match(path);
        if (rest < 0) {
            return null;
        }
        String sent = stripPrefix ? path.substring(rest) : path;
        String target = upstream.prefix() + (sent.isEmpty() ? "/" : sent) + query;
        return pattern.hasVariables()
                ? variable(path, target, allowed)
                : new RouteMatch.Forward(this, fixed, target);
    }

    private RouteMatch variable(String path, String target, AllowList allowed) {
        String namespace = label(path, PathPattern.NAMESPACE);
        String eventSource = label(path, PathPattern.EVENT_SOURCE);
        if (namespace == null || eventSource == null) {
            return NOT_A_LABEL;
        }
        UpstreamAddress address = upstream.address(namespace, eventSource);
        if (!DnsLabel.fit(address.host())) {
            return NOT_A_LABEL;
        }
        return allowed.allows(namespace, eventSource)
                ? new RouteMatch.Forward(this, address, target)
                : NOT_ALLOWED;
    }

    private @Nullable String label(String path, String variable) {
        return DnsLabel.decode(Objects.requireNonNull(pattern.value(path, variable)));
    }
}
