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
 * The metrics of one service: a registry with the meters of the JVM and Netty, and its Prometheus text. The
 * gateway's own meters have exactly the names and labels of docs/operations.md. Safe for use by any thread.
 * The creator closes it.
 */
public final class Telemetry implements AutoCloseable {
    /** The media type of {@link #scrape}: the Prometheus text format. */
    public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    @SuppressWarnings("unused") // keeps a strong reference
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

    /**
     * The registry for a service's own meters. Names have dots for underscores: {@code culvert.tunnel.bytes}.
     */
    public MeterRegistry registry() {
        return registry;
    }

    /** Counts a problem in {@code culvert_problems_total{cause,hop}}. Both labels have few values. */
    public void problem(Problem problem) {
        registry.counter("culvert.problems", "cause", problem.cause().word(), "hop", problem.hop().word())
                .increment();
    }

    /** Registers the figures of this service's tunnels. Keeps a strong reference to them. */
    public void tunnels(TunnelFigures figures) {
        Gauge.builder("culvert.tunnels", figures, TunnelFigures::connected).register(registry);
        Gauge.builder("culvert.tunnels.waiting", figures, TunnelFigures::waiting).register(registry);
        promotions("answered", figures, TunnelFigures::promotions);
        promotions("unanswered", figures, TunnelFigures::unansweredPromotions);
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
        tunnels = figures; // Micrometer's reference is weak
    }

    private void promotions(String result, TunnelFigures figures, ToDoubleFunction<TunnelFigures> count) {
        FunctionCounter.builder("culvert.tunnel.promotions", figures, count)
                .tag("result", result)
                .register(registry);
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
