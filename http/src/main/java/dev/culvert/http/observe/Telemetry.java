package dev.culvert.http.observe;

import dev.culvert.http.problem.Problem;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of one part: its registry, filled with the JVM's and Netty's own, and the Prometheus text of it. Names
 * and labels of the gateway's own meters are those of docs/operations.md, no others. Safe for use by any thread.
 * Whoever made it closes it.
 */
public final class Telemetry implements AutoCloseable {
    /** What {@link #scrape} returns: the Prometheus text format. */
    public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    @SuppressWarnings("unused") // only held
    private @Nullable TunnelFigures tunnels;

    public Telemetry() {
        registry.config().meterFilter(new MeterTexts());
        collections.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        if (ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator) {
            new NettyAllocatorMetrics(allocator).bindTo(registry);
        }
        refusedMemory("caller", MemoryRefusals.CALLER, MemoryRefusals::total);
        refusedMemory("upstream", MemoryRefusals.UPSTREAM, MemoryRefusals::total);
    }

    /** Where a part registers its meters, dots for underscores: {@code culvert.tunnel.bytes}. */
    public MeterRegistry registry() {
        return registry;
    }

    /** Counts a problem in {@code culvert_problems_total{cause,hop}}: both labels have few values. */
    public void problem(Problem problem) {
        registry.counter("culvert.problems", "cause", problem.cause().word(), "hop", problem.hop().word())
                .increment();
    }

    /** Shows the figures of this part's tunnels, which this object then holds on to. */
    public void tunnels(TunnelFigures figures) {
        Gauge.builder("culvert.tunnels", figures, TunnelFigures::connected).register(registry);
        Gauge.builder("culvert.tunnel.streams", figures, TunnelFigures::streams).register(registry);
        Gauge.builder("culvert.buffered", figures, TunnelFigures::bufferedBytes)
                .baseUnit("bytes")
                .register(registry);
        Gauge.builder("culvert.tunnel.rtt", figures, TunnelFigures::rttSeconds)
                .baseUnit("seconds")
                .register(registry);
        bytes("in", figures, TunnelFigures::receivedBytes);
        bytes("out", figures, TunnelFigures::sentBytes);
        refusedMemory("tunnel", figures, TunnelFigures::refusedMemory);
        tunnels = figures; // Micrometer's reference is a weak one
    }

    private <T> void refusedMemory(String connection, T counted, ToDoubleFunction<T> count) {
        FunctionCounter.builder("culvert.memory.refused", counted, count)
                .tag("connection", connection)
                .register(registry);
    }

    private void bytes(String direction, TunnelFigures figures, ToDoubleFunction<TunnelFigures> count) {
        FunctionCounter.builder("culvert.tunnel", figures, count)
                .baseUnit("bytes")
                .tag("direction", direction)
                .register(registry);
    }

    /** All metrics in the Prometheus text format. */
    public String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
