package dev.culvert.handlers.host;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The meters of one handler, tagged with its name. */
final class HandlerMeters {
    private static final String LABEL = "handler";

    private final Map<CallOutcome, Timer> calls;
    private final Counter rejected;

    HandlerMeters(MeterRegistry registry, HandlerGuard guard) {
        calls = Arrays.stream(CallOutcome.values())
                .collect(Collectors.toMap(Function.identity(),
                        outcome -> registry.timer("culvert.handler", LABEL, guard.name(), "outcome",
                                outcome.word()),
                        (first, second) -> first, () -> new EnumMap<>(CallOutcome.class)));
        rejected = registry.counter("culvert.handler.rejected", LABEL, guard.name());
        gauge(registry, "culvert.handler.active", guard, HandlerGuard::active);
        gauge(registry, "culvert.handler.busy.threads", guard, HandlerGuard::busyThreads);
        gauge(registry, "culvert.handler.healthy", guard, each -> each.trouble() == null ? 1 : 0);
    }

    private static void gauge(MeterRegistry registry, String name, HandlerGuard guard,
            ToDoubleFunction<HandlerGuard> figure) {
        Gauge.builder(name, guard, figure).tag(LABEL, guard.name()).strongReference(true).register(registry);
    }

    void ended(CallOutcome outcome, Duration took) {
        Timer timer = calls.get(outcome);
        if (timer != null) {
            timer.record(took);
        }
    }

    void rejected() {
        rejected.increment();
    }
}
