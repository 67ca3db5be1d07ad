package dev.culvert.relay.upstream;

import dev.culvert.http.observe.Telemetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The figures of the requests to upstreams, by route. They outlive changes of the routes. Any thread. */
public final class UpstreamFigures {
    /** Routes that are replaced again and again must not fill the memory. */
    static final int MAX_ROUTES = 1_000;
    private static final String OTHERS = "others";

    private final Map<String, RouteFigures> routes = new ConcurrentHashMap<>();
    private final List<Consumer<MeterRegistry>> unregistered = new ArrayList<>();
    private @Nullable MeterRegistry registry;

    /** The figures of a route; beyond {@value #MAX_ROUTES} routes those of all others. */
    public RouteFigures of(String route) {
        RouteFigures known = routes.get(route);
        if (known != null) {
            return known;
        }
        return routes.computeIfAbsent(routes.size() < MAX_ROUTES ? route : OTHERS,
                name -> new RouteFigures(name, this::register));
    }

    private synchronized void register(Consumer<MeterRegistry> meter) {
        if (registry == null) {
            unregistered.add(meter);
        } else {
            meter.accept(registry);
        }
    }

    /** Registers the meters, also those to come. */
    public synchronized void shown(Telemetry telemetry) {
        registry = telemetry.registry();
        unregistered.forEach(meter -> meter.accept(telemetry.registry()));
        unregistered.clear();
    }
}
