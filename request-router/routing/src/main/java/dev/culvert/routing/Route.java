package dev.culvert.routing;

import dev.culvert.relay.route.AllowList;
import dev.culvert.relay.route.PathVariables;
import dev.culvert.relay.route.RouteProblem;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.route.RouteRule;
import dev.culvert.relay.route.SourceList;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.routing.RouteConfig.Cors;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A route, ready to match. Immutable. */
final class Route {
    private final RouteConfig config;
    private final RouteRule rule;
    private final UpstreamTemplate upstream;
    private final PathVariables variables;
    private final SourceList sources;
    private final @Nullable String replacement;
    private final @Nullable Cors cors;
    private final @Nullable Path ca;
    private final UpstreamAddress fixed;
    private final @Nullable HostExchange hosts;

    Route(RouteConfig config) {
        this.config = config;
        rule = config.rule();
        upstream = UpstreamTemplate.parse(config.to());
        variables = PathVariables.of(rule.path(), upstream.host());
        sources = SourceList.parse(config.sources());
        String rewrite = config.rewrite();
        replacement = rewrite != null
                ? rewrite.substring(0, rewrite.length() - 1)
                : config.stripPrefix() ? "" : null;
        cors = config.browserAnswer();
        ca = config.tls() == null ? null : config.tls().ca();
        fixed = upstream.address().trusting(ca);
        hosts = config.hostHeader() == null ? null : HostExchange.of(fixed, config.hostHeader());
    }

    RouteConfig config() {
        return config;
    }

    RouteRule rule() {
        return rule;
    }

    /** The upstream, with its variables not substituted. */
    UpstreamAddress upstream() {
        return fixed;
    }

    /** The exchange of hosts with an upstream of this route; null: it sees the caller's. */
    @Nullable
    HostExchange hosts(UpstreamAddress filled) {
        String host = config.hostHeader();
        return hosts == null || host == null || !filled.filled() ? hosts : HostExchange.of(filled, host);
    }

    /** The CORS settings of the response to browsers while the upstream is unavailable; null for none. */
    @Nullable
    Cors cors() {
        return cors;
    }

    /**
     * The destination of a request that matches this route's rule.
     *
     * @param caller supplies the caller's address; called only if the route restricts its sources
     */
    RouteMatch forward(RouteQuery query, AllowList webhooks, Supplier<@Nullable InetAddress> caller) {
        if (!sources.blocks().isEmpty() && !sources.allows(caller.get())) {
            return new RouteMatch.Refused(RouteProblem.SOURCE_ADDRESS);
        }
        if (config.verify() != null && !query.method().equals("POST")) {
            return new RouteMatch.Refused(RouteProblem.POST_ONLY);
        }
        if (variables.isEmpty()) {
            return new RouteMatch.Forward(this, fixed, target(query));
        }
        return switch (variables.resolve(query.path(), webhooks)) {
            case PathVariables.Resolved.Refused refused -> new RouteMatch.Refused(refused.problem());
            case PathVariables.Resolved.Values values ->
                new RouteMatch.Forward(this, upstream.address(values.host()).trusting(ca),
                        target(query));
        };
    }

    private String target(RouteQuery query) {
        String path = query.path();
        String sent = replacement == null ? path : replacement + path.substring(rule.path().match(path));
        return upstream.prefix() + (sent.isEmpty() ? "/" : sent) + query.query();
    }
}
