package dev.culvert.relay.exchange;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.RuntimeUsage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.handler.codec.http2.Http2Error;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The edge's meters (docs/operations.md). Labels are bounded: runtimes exist in the store, and status classes
 * and hops are few. Safe for use by any thread.
 */
public final class EdgeMeters {
    private final MeterRegistry registry;
    private final LongAdder active = new LongAdder();
    private final ConcurrentMap<Labels, Timer> timers = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Usage> usages = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Connections> tcp = new ConcurrentHashMap<>();
    private final Map<Http2Error, Counter> http2Errors = new EnumMap<>(Http2Error.class);
    private final CutReaders cutReaders;

    /** A runtime's usage, and the meters that export it. */
    private record Usage(RuntimeUsage shown, List<FunctionCounter> meters) {}

    /** A runtime's raw connections, and the meter that exports them. */
    private record Connections(LongAdder count, Gauge meter) {}

    private record Labels(String runtime, int statusClass, Hop hop) {}

    public EdgeMeters(Telemetry telemetry) {
        registry = telemetry.registry();
        cutReaders = new CutReaders(registry);
        registry.gauge("culvert.edge.active.requests", active, LongAdder::sum);
        for (Http2Error error : Http2Error.values()) {
            http2Errors.put(error, registry.counter("culvert.edge.http2.errors", "error",
                    error.name().toLowerCase(Locale.ROOT)));
        }
    }

    void begin() {
        active.increment();
    }

    /** Records the end of a request. Status 0 means that it had no response. */
    void end(String runtime, int status, Hop hop, long nanos) {
        active.decrement();
        timers.computeIfAbsent(new Labels(runtime, status / 100, hop), this::timer)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** Counts a caller that violated HTTP/2 or a limit, whose connection therefore ends. */
    public void http2Error(Http2Error error) {
        Objects.requireNonNull(http2Errors.get(error)).increment();
    }

    /** Counts a caller, by its address, that was cut because it read too little of a response. */
    public void unread(String caller) {
        cutReaders.add(caller);
    }

    /** Counts a new raw connection of a runtime. Returns the counter to decrement at its end. */
    public LongAdder tcpBegin(String runtime) {
        LongAdder count = tcp.computeIfAbsent(runtime, this::connections).count;
        count.increment();
        return count;
    }

    private Connections connections(String runtime) {
        var count = new LongAdder();
        return new Connections(count, Gauge.builder("culvert.tcp.connections", count, LongAdder::sum)
                .tag("runtime", runtime)
                .register(registry));
    }

    /** Exports the usage of a runtime, from its first request on. */
    @SuppressWarnings("ReferenceEquality")
    public // a runtime that was deleted and created again has another usage
    void usage(String runtime, RuntimeUsage usage) {
        Usage known = usages.get(runtime);
        if (known == null || known.shown != usage) {
            usages.compute(runtime, (name, before) -> {
                if (before != null && before.shown == usage) {
                    return before;
                }
                remove(before);
                return new Usage(usage, meters(name, usage));
            });
        }
    }

    private List<FunctionCounter> meters(String runtime, RuntimeUsage usage) {
        List<FunctionCounter> meters = new ArrayList<>();
        meters.add(bytes("in", runtime, usage, RuntimeUsage::bytesIn));
        meters.add(bytes("out", runtime, usage, RuntimeUsage::bytesOut));
        for (RuntimeUsage.Refusal why : RuntimeUsage.Refusal.values()) {
            meters.add(FunctionCounter
                    .builder("culvert.runtime.refused", usage, shown -> shown.refusals(why))
                    .tags("runtime", runtime, "limit", why.word())
                    .register(registry));
        }
        return meters;
    }

    private FunctionCounter bytes(String direction, String runtime, RuntimeUsage usage,
            ToDoubleFunction<RuntimeUsage> count) {
        return FunctionCounter.builder("culvert.runtime", usage, count)
                .baseUnit("bytes")
                .tags("runtime", runtime, "direction", direction)
                .register(registry);
    }

    private void remove(@Nullable Usage usage) {
        if (usage != null) {
            usage.meters.forEach(registry::remove);
        }
    }

    /** Removes the meters of a deleted runtime. */
    public void forget(String runtime) {
        remove(usages.remove(runtime));
        Connections raw = tcp.remove(runtime);
        if (raw != null) {
            registry.remove(raw.meter);
        }
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
