package dev.culvert.relay.route;

import dev.culvert.http.path.RawPath;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.relay.route.DurableMatch.Refused;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are stored before they are delivered. An inbox in front of a router uses it to make
 * the same decision as the router's own table. Immutable, safe for use by any thread.
 */
public final class DurableRoutes {
    /** The routes of a client that serves one upstream: none. No request is stored or refused. */
    public static final DurableRoutes NONE = new DurableRoutes(List.of(), Policy.OPEN, false);

    private static final String POST = "POST";
    private static final int MAX_SOURCE = 200;

    private final RouteIndex<Target> index;
    private final Policy policy;
    private final boolean refusing;
    private final boolean deferring;

    private DurableRoutes(List<AnnouncedRoute> routes, Policy policy, boolean refusing) {
        this(routes, policy, refusing, false);
    }

    /**
     * @param refusing whether malformed targets are refused
     * @param deferring whether requests to be refused are passed on to the router instead
     */
    private DurableRoutes(List<AnnouncedRoute> routes, Policy policy, boolean refusing, boolean deferring) {
        this.index = RouteIndex.of(routes.stream().map(Target::of).toList(), target -> target.route.rule());
        this.policy = policy;
        this.refusing = refusing;
        this.deferring = deferring;
    }

    /** Creates the routes of a router that has sent its announcement. */
    public static DurableRoutes of(Announcement announced) {
        return new DurableRoutes(announced.routes(), new Policy(AllowList.parse(announced.webhooks()),
                announced.requests()), true);
    }

    /**
     * Creates the routes for an inbox in front of the router of the same process. Nothing is refused: the
     * router handles the request next, and it refuses and counts.
     *
     * @param all the router's routes, in any number
     * @param webhooks the event sources that webhooks may reach, in the form of {@link AllowList}
     * @param requests the methods and paths that requests may reach
     */
    public static DurableRoutes beforeRouter(List<AnnouncedRoute> all, List<String> webhooks,
            RequestPolicy requests) {
        return new DurableRoutes(all, new Policy(AllowList.parse(webhooks), requests), true, true);
    }

    /**
     * Creates the routes of a router that has announced nothing yet. Webhooks of the default route are stored
     * for all event sources. No other request is refused.
     */
    public static DurableRoutes byDefault() {
        return new DurableRoutes(List.of(AnnouncedRoute.durable("/webhooks/{namespace}/{eventSource}/",
                "{eventSource}-eventsource-svc.{namespace}.svc.cluster.local")), Policy.OPEN, false);
    }

    /** Whether no request is ever stored. */
    public boolean isEmpty() {
        return this == NONE;
    }

    /**
     * Matches a request that does not ask for an upgrade, without its header fields and its caller's address.
     * Routes with such conditions treat the request as one without fields and address.
     *
     * @param rawTarget the raw path, with or without the query
     * @return null if the request is not durable and passes undecided
     */
    public @Nullable DurableMatch match(String method, String authority, String rawTarget) {
        return match(RouteQuery.of(method, authority, rawTarget));
    }

    /** Matches a request by all properties that routes examine. */
    public @Nullable DurableMatch match(RouteQuery query) {
        DurableMatch match = decide(query);
        return deferring && match instanceof Refused ? null : match;
    }

    private @Nullable DurableMatch decide(RouteQuery query) {
        if (!RawPath.wellFormed(query.path())) {
            return refusing ? new Refused(RouteProblem.MALFORMED) : null;
        }
        if (!policy.requests.allows(query.method(), query.path())) {
            return new Refused(RouteProblem.REQUEST);
        }
        Target target = index.find(query);
        if (target == null) {
            return null;
        }
        if (!target.route.sources().allows(query.caller())) {
            return new Refused(RouteProblem.SOURCE_ADDRESS);
        }
        if (target.route.verify() != null && !query.method().equals(POST)) {
            return new Refused(RouteProblem.POST_ONLY);
        }
        return switch (target.variables.resolve(query.path(), policy.webhooks)) {
            case PathVariables.Resolved.Refused refused -> new Refused(refused.problem());
            case PathVariables.Resolved.Values values -> target.route.durable() && query.method().equals(POST)
                    ? target.route(values.values(), policy.webhooks)
                    : null;
        };
    }

    private record Policy(AllowList webhooks, RequestPolicy requests) {
        static final Policy OPEN = new Policy(AllowList.parse(List.of("*/*")), RequestPolicy.OPEN);
    }

    private record Target(AnnouncedRoute route, PathVariables variables) {
        static Target of(AnnouncedRoute route) {
            return new Target(route, PathVariables.of(route.rule().path(), route.host()));
        }

        DurableRoute route(List<String> values, AllowList webhooks) {
            String path = route.rule().path().toString();
            String source = values.isEmpty()
                    ? path.substring(Math.min(1, path.length() - 1), Math.max(1, path.length() - 1))
                    : String.join("/", values);
            return new DurableRoute(bounded(source), path, route.inOrder(), route.maxBodyBytes(),
                    route.verify(), variables.isNamed(values, webhooks));
        }
    }

    /**
     * Bounds a name that callers may choose at length: keeps its beginning, followed by a digest that makes
     * it unique.
     */
    private static String bounded(String source) {
        if (source.length() <= MAX_SOURCE) {
            return source;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(source.getBytes(StandardCharsets.UTF_8));
            String mark = "~" + HexFormat.of().formatHex(digest, 0, 16);
            return source.substring(0, MAX_SOURCE - mark.length()) + mark;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
