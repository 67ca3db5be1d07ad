package dev.culvert.handlers.host;

import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.host.HandlerHealth.Kind;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.HandlerLimits;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Isolates one handler from the others. The handler's code runs on its own threads, never on an event loop.
 * Its calls are counted, bounded in number, and limited in time. Their outcomes determine its health. Safe
 * for use by any thread.
 */
final class HandlerGuard {
    private static final Duration RETRY_WHILE_FULL = Duration.ofSeconds(1);

    private final String name;
    private final HandlerLimits limits;
    private final HandlerThreads threads;
    private final HandlerHealth health = new HandlerHealth(System::nanoTime);
    private final HandlerMeters meters;
    private final AtomicInteger active = new AtomicInteger();

    HandlerGuard(String name, HandlerLimits limits, MeterRegistry registry) {
        this.name = name;
        this.limits = limits;
        this.threads = new HandlerThreads(name, limits);
        this.meters = new HandlerMeters(registry, this);
    }

    String name() {
        return name;
    }

    int active() {
        return active.get();
    }

    int busyThreads() {
        return threads.busy();
    }

    /** The reason why the handler counts as failing, for an operator. Null if it does not. */
    @Nullable
    String trouble() {
        return health.trouble();
    }

    /** The handler's own threads. */
    Scheduler scheduler() {
        return threads.scheduler();
    }

    /** The handler's own threads for queues; see {@link HandlerThreads#steady}. */
    Scheduler steady() {
        return threads.steady();
    }

    /** Wraps the handler with this guard. */
    EdgeHandler around(EdgeHandler handler) {
        return request -> Mono.defer(() -> enter().serve(handler, request));
    }

    /** Wraps the function with this guard. Each of its root fields is a call. */
    GraphQlFunction around(GraphQlFunction function) {
        Map<String, GraphQlField> fields = new LinkedHashMap<>();
        function.fields()
                .forEach((key, field) -> fields.put(key,
                        call -> Mono.defer(() -> enter().single(Mono.defer(() -> field.call(call))))));
        return new GuardedFunction(function.schema(), fields);
    }

    /** Starts {@code work} on the handler's threads and limits its time. */
    <T> Mono<T> bounded(GuardedCall call, Mono<T> work) {
        Mono<T> away = work.cancelOn(scheduler())
                .subscribeOn(scheduler())
                .onErrorMap(RejectedExecutionException.class,
                        error -> overloaded("too much work waits for its threads"));
        Duration timeout = limits.timeout();
        return timeout.isZero()
                ? away
                : away.timeout(timeout, Mono.error(() -> timedOut(call)), Schedulers.parallel());
    }

    /** Admits a call. Throws HandlerException (overloaded) at the limit. */
    private GuardedCall enter() {
        if (active.incrementAndGet() > limits.maxConcurrent()) {
            active.decrementAndGet();
            meters.rejected();
            health.count(Kind.REJECTED);
            throw overloaded(limits.maxConcurrent() + " of its calls are in progress");
        }
        return new GuardedCall(this);
    }

    /**
     * Records the end of a call. {@code kind} is its effect on the handler's health, or null for no effect.
     */
    void left(CallOutcome outcome, @Nullable Kind kind, Duration took) {
        active.decrementAndGet();
        meters.ended(outcome, took);
        if (kind != null) {
            health.count(kind);
        }
    }

    /**
     * Counts an exchange of frames, which continues after its call. It counts towards the limit but is not
     * ended by it.
     */
    void opened() {
        active.incrementAndGet();
    }

    void closed() {
        active.decrementAndGet();
    }

    /** Interrupts running work. */
    void stop() {
        threads.stop();
    }

    private HandlerException timedOut(GuardedCall call) {
        call.timedOut();
        return HandlerException.of(Reason.UPSTREAM_TIMEOUT,
                "handler " + name + " gave no answer within " + limits.timeout().toMillis() + " ms");
    }

    private HandlerException overloaded(String why) {
        return HandlerException.of(Reason.OVERLOADED, "handler " + name + " is busy: " + why)
                .retryAfter(RETRY_WHILE_FULL);
    }

    /** A function whose fields are wrapped with the guard. */
    private record GuardedFunction(String schema,
            Map<String, GraphQlField> fields) implements GraphQlFunction {}
}
