package dev.culvert.inbox.dispatch;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.WebhookState;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The meters of the inbox. Safe for use by any thread. */
public final class InboxMeters {
    private final MeterRegistry registry;
    private final List<Meter> meters = new ArrayList<>();
    private final Timer delivery;
    private final Timer commit;
    private final DistributionSummary batch;
    private volatile Map<WebhookState, Long> counts = Map.of();

    public InboxMeters(MeterRegistry registry) {
        this.registry = registry;
        this.delivery = kept(Timer.builder("culvert.webhook.delivery").register(registry));
        this.commit = kept(Timer.builder("culvert.inbox.commit").register(registry));
        this.batch = kept(DistributionSummary.builder("culvert.inbox.batch").register(registry));
        for (WebhookState state : WebhookState.values()) {
            kept(Gauge.builder("culvert.webhooks", () -> counts.getOrDefault(state, 0L))
                    .tag("state", state.word())
                    .register(registry));
        }
    }

    private <M extends Meter> M kept(M meter) {
        meters.add(meter);
        return meter;
    }

    public void watch(Supplier<Number> queued, Supplier<Number> memory) {
        kept(Gauge.builder("culvert.inbox.queued", queued).register(registry));
        kept(Gauge.builder("culvert.inbox.memory", memory).baseUnit("bytes").register(registry));
    }

    /** Shows the acknowledged webhooks that were found lost at the start. */
    public void lost(long webhooks) {
        kept(Gauge.builder("culvert.inbox.lost", () -> webhooks).register(registry));
    }

    public void counts(Map<WebhookState, Long> now) {
        counts = now;
    }

    public Map<WebhookState, Long> counts() {
        return counts;
    }

    void committed(int tasks, long nanos) {
        commit.record(nanos, TimeUnit.NANOSECONDS);
        batch.record(tasks);
    }

    void settled(InboxEvent.Kind kind, long millisSinceStored) {
        if (kind == InboxEvent.Kind.DELIVERED) {
            delivery.record(Math.max(0, millisSinceStored), TimeUnit.MILLISECONDS);
        }
    }

    public void refused(String reason) {
        registry.counter("culvert.inbox.refused", "reason", reason).increment();
    }

    public void close() {
        meters.forEach(registry::remove);
    }
}
