package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathPattern;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the route of a request: a tree of raw path segments, whose nodes hold their routes by host.
 * Precedence: a literal segment beats a variable; then the longer path; then the host (a name before a
 * wildcard, the longer wildcard before the shorter, any host last); then methods (listed before any); then
 * header fields (more before fewer); then the order of the list. The cost of a look-up depends on the path's
 * length, not on the number of routes. Immutable, safe for use by any thread.
 *
 * @param <R> the type of a route
 */
public final class RouteIndex<R> {
    /** The maximum number of routes with the same path and host: they are examined one by one. */
    static final int MAX_ALIKE = 64;

    private final Node<R> root = new Node<>();

    private RouteIndex() {}

    /**
     * Indexes routes.
     *
     * @param rule returns the rule of a route
     * @throws ConfigException for the key {@code routes[n].path} if earlier routes take every request of the
     *     n-th
     */
    public static <R> RouteIndex<R> of(List<R> routes, Function<R, RouteRule> rule) {
        RouteIndex<R> index = new RouteIndex<>();
        for (int i = 0; i < routes.size(); i++) {
            R route = routes.get(i);
            index.add(new Entry<>(i, rule.apply(route), route));
        }
        return index;
    }

    private void add(Entry<R> entry) {
        Node<R> node = root;
        for (PathPattern.Segment segment : entry.rule.path().segments()) {
            node = node.child(segment);
        }
        node.add(entry);
    }

    /** Returns the route that takes a request; null: none does. */
    public @Nullable R find(RouteQuery query) {
        Entry<R> found = find(root, query, 0);
        return found == null ? null : found.route;
    }

    /**
     * Searches below a node, whose segments end at {@code at}. The recursion is no deeper than the longest
     * path of a route.
     */
    private static <R> @Nullable Entry<R> find(Node<R> node, RouteQuery query, int at) {
        String path = query.path();
        if (at < path.length() && path.charAt(at) != '/') {
            return null; // the asterisk-form of OPTIONS
        }
        Entry<R> found = null;
        if (at < path.length() && !node.isLeaf()) {
            int end = PathPattern.end(path, at + 1);
            Node<R> literal = node.literals.get(path.substring(at + 1, end));
            if (literal != null) {
                found = find(literal, query, end);
            }
            Node<R> variable = node.variable;
            if (found == null && variable != null && at + 1 < path.length()) {
                found = find(variable, query, end);
            }
        }
        return found == null ? node.take(query) : found;
    }

    private record Entry<R>(int position, RouteRule rule, R route) {}

    /** A path prefix: the routes that end here, and the segments that follow. */
    private static final class Node<R> {
        private static final Comparator<Entry<?>> ORDER = Comparator
                .<Entry<?>, Boolean>comparing(entry -> entry.rule.methods().isEmpty())
                .thenComparingInt(entry -> -entry.rule.fields().size())
                .thenComparingInt(Entry::position);

        private final Map<String, Node<R>> literals = new HashMap<>();
        private @Nullable Node<R> variable;
        /** The routes by exact host name; wildcards by the text after the star. */
        private final Map<String, List<Entry<R>>> hosts = new HashMap<>();
        private final List<Entry<R>> anyHost = new ArrayList<>();
        private boolean wildcards;

        boolean isLeaf() {
            return variable == null && literals.isEmpty();
        }

        Node<R> child(PathPattern.Segment segment) {
            if (!segment.variable()) {
                return literals.computeIfAbsent(segment.text(), text -> new Node<>());
            }
            Node<R> child = variable;
            if (child == null) {
                child = new Node<>();
                variable = child;
            }
            return child;
        }

        void add(Entry<R> entry) {
            String host = entry.rule.host();
            boolean wildcard = host != null && host.startsWith("*.");
            wildcards |= wildcard;
            List<Entry<R>> alike = host == null
                    ? anyHost
                    : hosts.computeIfAbsent(wildcard ? host.substring(1) : host, name -> new ArrayList<>(1));
            alike.add(entry);
            alike.sort(ORDER);
            requireReachable(alike, entry);
        }

        /**
         * Refuses a route that hides another, or that another hides: the hidden one would be of no use. A
         * later route may hide an earlier one that is less specific.
         */
        private static <R> void requireReachable(List<Entry<R>> alike, Entry<R> added) {
            int at = alike.indexOf(added);
            for (int i = 0; i < alike.size(); i++) {
                Entry<R> other = alike.get(i);
                boolean hides = i < at && other.rule.coversConditionsOf(added.rule);
                boolean hidden = i > at && added.rule.coversConditionsOf(other.rule);
                if (hides || hidden) {
                    throw new ConfigException("routes[" + added.position + "].path",
                            "each path once, unless host, methods or headers tell the routes apart; routes["
                                    + other.position + "] takes the same requests");
                }
            }
            if (alike.size() > MAX_ALIKE) {
                throw new ConfigException("routes[" + added.position + "].path",
                        "at most " + MAX_ALIKE + " routes with the same path and host");
            }
        }

        @Nullable
        Entry<R> take(RouteQuery query) {
            Entry<R> found = hosts.isEmpty() ? null : byHost(query);
            return found == null ? first(anyHost, query) : found;
        }

        private @Nullable Entry<R> byHost(RouteQuery query) {
            String host = query.host();
            Entry<R> found = host.startsWith(".") ? null : first(hosts.get(host), query);
            for (int dot = wildcards ? host.indexOf('.', 1) : -1; found == null && dot > 0; dot = host
                    .indexOf('.', dot + 1)) {
                found = first(hosts.get(host.substring(dot)), query);
            }
            return found;
        }

        private static <R> @Nullable Entry<R> first(@Nullable List<Entry<R>> alike, RouteQuery query) {
            if (alike != null) {
                for (Entry<R> entry : alike) {
                    if (entry.rule.takes(query)) {
                        return entry;
                    }
                }
            }
            return null;
        }
    }
}
