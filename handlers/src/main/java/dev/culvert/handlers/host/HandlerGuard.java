package dev.culvert.handlers.host;

import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.graphql.GraphQlStream;
import dev.culvert.handlers.host.HandlerHealth.Kind;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.handlers.spi.QuotaHolder;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.MeterRegistry;
import java.security.Principal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Isolates one handler from the others. The handler's code runs on its own threads, never on an event loop.
 * Its calls are counted, bounded in number, shared fairly among callers, and limited in time. Their outcomes
 * determine its health. Safe for use by any thread.
 */
final class HandlerGuard {
    /** The number of open subscriptions of a handler. */
    private static final int MAX_STREAMS = 4096;
    private static final Duration RETRY_WHILE_FULL = Duration.ofSeconds(1);

    private final String name;
    private final HandlerLimits limits;
    private final HandlerThreads threads;
    private final HandlerHealth health = new HandlerHealth(System::nanoTime);
    private final HandlerMeters meters;
    /** The calls in progress, by the account that causes them. */
    private final Quota<Object> places;
    /** Open subscriptions, which last for hours and must not fill the places of calls. */
    private final Quota<Object> subscriptions = new Quota<>(MAX_STREAMS);

    HandlerGuard(String name, HandlerLimits limits, MeterRegistry registry) {
        this.name = name;
        this.limits = limits;
        this.threads = new HandlerThreads(name, limits);
        this.places = new Quota<>(limits.maxConcurrent());
        this.meters = new HandlerMeters(registry, this);
    }

    String name() {
        return name;
    }

    int active() {
        return Math.toIntExact(places.used() + subscriptions.used());
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
        return request -> Mono.defer(() -> enter(request.context(), places).serve(handler, request));
    }

    /**
     * Wraps the function with this guard. Each of its root fields is a call, a subscription until it ends.
     */
    GraphQlFunction around(GraphQlFunction function) {
        Map<String, GraphQlField> fields = new LinkedHashMap<>();
        function.fields()
                .forEach((key, field) -> fields.put(key,
                        call -> Mono.defer(
                                () -> enter(call.context(), places)
                                        .single(Mono.defer(() -> field.call(call))))));
        Map<String, GraphQlStream> streams = new LinkedHashMap<>();
        function.streams()
                .forEach((key, stream) -> streams.put(key,
                        call -> Flux.defer(() -> enter(call.context(), subscriptions)
                                .stream(Flux.defer(() -> stream.open(call))))));
        return new GuardedFunction(function.schema(), fields, streams);
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

    /**
     * Admits a call. At the limit the newest call of the account with the most calls gives way. Throws
     * HandlerException (overloaded) if that account is the caller's own.
     */
    private GuardedCall enter(RequestContext context, Quota<Object> from) {
        var call = new GuardedCall(this, account(context), from);
        if (!call.admitted()) {
            meters.rejected();
            health.count(Kind.REJECTED);
            throw full();
        }
        return call;
    }

    /** The account of the caller if a filter has identified it, else the source address. */
    private static Object account(RequestContext context) {
        return switch (context.caller()) {
            case QuotaHolder known -> known.quotaKey();
            case Principal other -> other.getName();
            case null -> SourceAddress.of(context.source());
        };
    }

    /**
     * Takes a place for an exchange of frames, which continues after its call, also when there is none: it
     * counts towards the limit, and gives way to the calls of others.
     */
    Quota<Object>.Claim exchangePlace(Object account, Runnable shed) {
        Quota<Object>.Claim place = places.open(account, shed);
        place.take(1);
        return place;
    }

    HandlerException full() {
        return overloaded(limits.maxConcurrent() + " of its calls are in progress");
    }

    /**
     * Records the end of a call. {@code kind} is its effect on the handler's health, or null for no effect.
     */
    void left(CallOutcome outcome, @Nullable Kind kind, Duration took) {
        meters.ended(outcome, took);
        if (kind != null) {
            health.count(kind);
        }
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
    private record GuardedFunction(String schema, Map<String, GraphQlField> fields,
            Map<String, GraphQlStream> streams) implements GraphQlFunction {}
}
