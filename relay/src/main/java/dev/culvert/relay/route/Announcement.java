package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathPattern;
import java.util.List;

/**
 * What a cluster's router tells the server: which requests to store before they are delivered, and what the cluster's owner
 * allows, so that the server can refuse early. It carries no upstream's name, and no secrets but those of {@link
 * Verification#shared}. The router enforces its policy all the same. Immutable.
 *
 * @param routes the durable ones, and those that take requests away from them
 * @param webhooks event sources that may be reached, as {@link AllowList} reads them
 * @param requests methods and paths that may be reached
 */
public record Announcement(List<AnnouncedRoute> routes, List<String> webhooks, RequestPolicy requests) {
    /** What a document may have, in UTF-8. */
    public static final int MAX_BYTES = 256 << 10;

    /** Every one is kept in the server's memory. */
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

    /** Of all routes of a router: leaves out those that have nothing to do with durable ones. */
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
     * The document, in UTF-8.
     *
     * @throws ConfigException for the key {@code routes} when it would be larger than {@link #MAX_BYTES}
     */
    public byte[] toJson() {
        byte[] json = AnnouncementJson.write(this);
        if (json.length > MAX_BYTES) {
            throw new ConfigException("routes", "durable routes and a policy of at most " + MAX_BYTES
                    + " bytes as the server is told of them; these have " + json.length);
        }
        return json;
    }

    /**
     * Reads a document. Members that a later version may add are passed over; everything else must be as it is written by
     * {@link #toJson}.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    public static Announcement parse(byte[] json) {
        if (json.length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    json.length + " bytes (expected: at most " + MAX_BYTES + ")");
        }
        return AnnouncementJson.read(json);
    }
}
