package dev.culvert.server.edge;

import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.Telemetry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.handler.codec.http2.Http2Error;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The edge's meters (docs/operations.md). Labels are bounded: runtimes exist in the store, status classes and hops are
 * few. Safe for use by any thread.
 */
public final class EdgeMeters {
    private final MeterRegistry registry;
    private final LongAdder active = new LongAdder();
    private final ConcurrentMap<Labels, Timer> timers = new ConcurrentHashMap<>();

    private record Labels(String runtime, int statusClass, Hop hop) {}

    public EdgeMeters(Telemetry telemetry) {
        registry = telemetry.registry();
        registry.gauge("culvert.edge.active.requests", active, LongAdder::sum);
    }

    void begin() {
        active.increment();
    }

    /** A request is over; status 0 means that it was not answered. */
    void end(String runtime, int status, Hop hop, long nanos) {
        active.decrement();
        timers.computeIfAbsent(new Labels(runtime, status / 100, hop), this::timer)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** A caller broke HTTP/2's rules, or a limit: its connection ends. */
    void http2Error(Http2Error error) {
        registry.counter("culvert.edge.http2.errors", "error", error.name().toLowerCase(Locale.ROOT))
                .increment();
    }

    /** A runtime was deleted: its label ends. */
    public void forget(String runtime) {
        timers.forEach((labels, timer) -> {
            if (labels.runtime.equals(runtime)) {
                timers.remove(labels);
                registry.remove(timer);
            }
        });
    }

    private Timer timer(Labels labels) {
        String statusClass = labels.statusClass == 0 ? "none" : labels.statusClass + "xx";
        return registry.timer("culvert.edge.requests", "runtime", labels.runtime, "status_class", statusClass,
                "hop",
                labels.hop.word());
    }
}
