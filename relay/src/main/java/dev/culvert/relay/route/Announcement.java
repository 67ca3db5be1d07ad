package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathPattern;
import java.util.List;

/**
 * The announcement that a cluster's router sends to the server: which requests to store before delivery, and
 * what the cluster's owner allows, so that the server can refuse early. It carries no names of upstreams, and
 * no secrets except those of {@link Verification#shared}. The router enforces its policy in any case.
 * Immutable.
 *
 * @param routes the durable routes, and the routes that take requests away from them
 * @param webhooks the event sources that webhooks may reach, in the form of {@link AllowList}
 * @param requests the methods and paths that requests may reach
 */
public record Announcement(List<AnnouncedRoute> routes, List<String> webhooks, RequestPolicy requests) {
    /** The maximum length of a document, in UTF-8. */
    public static final int MAX_BYTES = 256 << 10;

    /** The maximum number of routes: the server keeps them all in memory. */
    static final int MAX_ROUTES = 2000;

    public Announcement {
        routes = List.copyOf(routes);
        webhooks = List.copyOf(webhooks);
        AllowList.parse(webhooks);
        if (routes.size() > MAX_ROUTES) {
            throw new ConfigException("routes",
                    "at most " + MAX_ROUTES + " durable routes and routes that overlap them");
        }
    }

    /**
     * Creates the announcement of a router with these routes. Leaves out routes that overlap no durable one.
     */
    public static Announcement of(List<AnnouncedRoute> all, List<String> webhooks, RequestPolicy requests) {
        List<AnnouncedRoute> durable = all.stream().filter(AnnouncedRoute::durable).toList();
        return new Announcement(
                all.stream().filter(route -> route.durable() || overlaps(route, durable)).toList(), webhooks,
                requests);
    }

    private static boolean overlaps(AnnouncedRoute route, List<AnnouncedRoute> durable) {
        PathPattern path = route.rule().path();
        return durable.stream().anyMatch(other -> path.mayTakeFrom(other.rule().path()));
    }

    /**
     * Returns the document, in UTF-8.
     *
     * @throws ConfigException for the key {@code routes} if the document exceeds {@link #MAX_BYTES}
     */
    public byte[] toJson() {
        byte[] json = AnnouncementJson.write(this);
        if (json.length > MAX_BYTES) {
            throw new ConfigException("routes", "durable routes and a policy of at most " + MAX_BYTES
                    + " bytes in the announcement to the server; these have " + json.length);
        }
        return json;
    }

    /**
     * Parses a document. Members that a later version may add are ignored. Everything else must have the form
     * that {@link #toJson} writes.
     *
     * @throws IllegalArgumentException if the document is not valid; the message names the fault
     */
    public static Announcement parse(byte[] json) {
        if (json.length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    json.length + " bytes (expected: at most " + MAX_BYTES + ")");
        }
        return AnnouncementJson.read(json);
    }
}
