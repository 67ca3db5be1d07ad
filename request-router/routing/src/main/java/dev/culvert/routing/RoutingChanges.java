package dev.culvert.routing;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.stream.Stream;

/** Computes the differences between two configurations, for the audit log. */
final class RoutingChanges {
    /**
     * The maximum number of added, removed and changed items that are listed, for each kind. The total is
     * always given.
     */
    static final int MAX_NAMED = 10;

    /**
     * A key whose value has changed.
     *
     * @param key of {@link RoutingConfig}
     * @param detail for lists the items that were added (+), removed (-) and modified (*); else the new value
     */
    record Change(String key, String detail) {}

    private RoutingChanges() {}

    /** The keys whose values differ, in a fixed order. */
    static List<Change> between(RoutingConfig before, RoutingConfig now) {
        List<Change> changes = new ArrayList<>();
        if (!before.policy().equals(now.policy())) {
            changes.add(new Change("policy", now.policy().toString()));
        }
        list(changes, "routes", before.effectiveRoutes(), now.effectiveRoutes(), RoutingChanges::name);
        list(changes, "tcp", before.tcp(), now.tcp(),
                route -> (route.name() == null ? route.host() : route.name()) + " → " + route.to());
        list(changes, "resolve", entries(before), entries(now), Function.identity());
        list(changes, "trustedProxies", before.trustedProxies(), now.trustedProxies(), Function.identity());
        if (!before.upstreams().equals(now.upstreams())) {
            changes.add(new Change("upstreams",
                    "ca: " + now.upstreams().ca() + ", dns: " + now.upstreams().dns()
                            + ", maxHeadBytes: " + now.upstreams().maxHeadBytes() + ", maxHeadFields: "
                            + now.upstreams().maxHeadFields() + ", postQuantum: "
                            + now.upstreams().postQuantum().name().toLowerCase(Locale.ROOT)));
        }
        return changes;
    }

    private static List<String> entries(RoutingConfig config) {
        return config.resolve()
                .entrySet()
                .stream()
                .map(entry -> entry.getKey() + " → " + entry.getValue())
                .sorted()
                .toList();
    }

    private static String name(RouteConfig route) {
        return (route.host() == null ? "" : route.host()) + route.path() + " → " + route.to();
    }

    private static <T> void list(List<Change> changes, String key, List<T> before, List<T> now,
            Function<T, String> name) {
        if (before.equals(now)) {
            return;
        }
        Set<T> old = new HashSet<>(before);
        Set<T> next = new HashSet<>(now);
        Set<String> added = names(now.stream().filter(item -> !old.contains(item)), name);
        Set<String> removed = names(before.stream().filter(item -> !next.contains(item)), name);
        Set<String> changed = new LinkedHashSet<>(added);
        changed.retainAll(removed);
        added.removeAll(changed);
        removed.removeAll(changed);
        String counts = now.size() + " now, " + added.size() + " added, " + removed.size() + " removed, "
                + changed.size() + " changed: ";
        StringJoiner named = new StringJoiner(", ", counts, "");
        tell(named, "+ ", added);
        tell(named, "- ", removed);
        tell(named, "* ", changed);
        if (added.isEmpty() && removed.isEmpty() && changed.isEmpty()) {
            named.add("in another order");
        }
        changes.add(new Change(key, named.toString()));
    }

    private static <T> Set<String> names(Stream<T> items, Function<T, String> name) {
        Set<String> names = new LinkedHashSet<>();
        items.map(name).forEach(names::add);
        return names;
    }

    private static void tell(StringJoiner to, String sign, Set<String> names) {
        names.stream().limit(MAX_NAMED).forEach(name -> to.add(sign + name));
        if (names.size() > MAX_NAMED) {
            to.add(sign + "…");
        }
    }
}
