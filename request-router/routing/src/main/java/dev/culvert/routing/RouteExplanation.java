package dev.culvert.routing;

import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.route.RouteQuery;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Explains the routing of a request.
 *
 * @param isForwarded whether the request would be forwarded to an upstream
 * @param outcome the result, in one line
 * @param reasons one line for each route, stating that it is taken or why it is not
 */
public record RouteExplanation(boolean isForwarded, String outcome, List<String> reasons) {
    /** A person does not read more. */
    private static final int MAX_REASONS = 200;

    public RouteExplanation {
        reasons = List.copyOf(reasons);
    }

    /** Explains the decision of a router with this configuration. */
    public static RouteExplanation of(RoutingConfig config, RouteQuery query) {
        RouteTable table = RouteTable.of(config);
        RouteMatch match = table.match(query, query::caller);
        Route taken = table.find(query);
        List<String> reasons = reasons(table.routes(), taken, query);
        Problem unread = unread(query);
        if (unread != null) {
            return refused(query, "by the listener, ", unread, reasons);
        }
        return switch (match) {
            case RouteMatch.Forward to -> new RouteExplanation(
                    true, query.method() + " " + query.path() + " goes to "
                            + (to.address().tls() ? "https://" : to.address().http2() ? "h2c://" : "http://")
                            + to.address().host() + ":" + to.address().port() + " as " + to.target()
                            + (to.route().config().durable() && query.method().equals("POST")
                                    ? ", stored first where there is an inbox"
                                    : ""),
                    reasons);
            case RouteMatch.Refused refused -> refused(query, "", refused.problem(), reasons);
        };
    }

    private static RouteExplanation refused(RouteQuery query, String where, Problem problem,
            List<String> reasons) {
        return new RouteExplanation(false, query.method() + " " + query.path() + " is refused " + where
                + "with " + problem.cause().status() + " " + problem.cause().word() + ": " + problem.detail(),
                reasons);
    }

    /** Why no listener would read the request; null: it would. */
    private static @Nullable Problem unread(RouteQuery query) {
        try {
            TargetForm.requireServed(query.method());
            TargetForm.checked(query.path() + query.query());
            return null;
        } catch (EdgeException e) {
            return e.problem();
        }
    }

    /**
     * The reasons: first of the taken route, then of other matching routes, then of the rest, each in the
     * file's order.
     */
    private static List<String> reasons(List<Route> routes, @Nullable Route taken, RouteQuery query) {
        return IntStream.range(0, routes.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> rank(routes.get(i), taken, query)))
                .map(i -> "routes[" + i + "] " + routes.get(i).rule().path() + ": "
                        + reason(routes.get(i), taken, query))
                .toList();
    }

    private static int rank(Route route, @Nullable Route taken, RouteQuery query) {
        return route == taken ? 0 : route.rule().mismatch(query) == null ? 1 : 2;
    }

    private static String reason(Route route, @Nullable Route taken, RouteQuery query) {
        if (route == taken) {
            return "taken";
        }
        String mismatch = route.rule().mismatch(query);
        return mismatch != null
                ? mismatch
                : "would take it, but " + (taken == null
                        ? "the path can't be matched as it stands"
                        : taken.rule().path() + " is more specific, or stands first");
    }

    /** The explanation as text for people. */
    public String text() {
        List<String> lines = new ArrayList<>();
        lines.add(outcome);
        reasons.stream().limit(MAX_REASONS).forEach(reason -> lines.add("  " + reason));
        if (reasons.size() > MAX_REASONS) {
            lines.add("  and " + (reasons.size() - MAX_REASONS) + " more");
        }
        return String.join("\n", lines);
    }
}
