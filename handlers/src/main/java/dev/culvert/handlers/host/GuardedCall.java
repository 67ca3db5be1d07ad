package dev.culvert.handlers.host;

import dev.culvert.handlers.host.HandlerHealth.Kind;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.Scannable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;

/**
 * One call of a handler, from its admission to the end of the response body or to the result of a field. Data
 * between handler and service changes threads here, in both directions.
 */
final class GuardedCall {
    /** The number of buffers that wait for the handler's thread, enough to keep it reading. */
    private static final int PREFETCH = 4;

    private final HandlerGuard guard;
    private final Object account;
    private final Quota<Object>.@Nullable Claim place;
    /** Completes when the call must give way to another caller's. */
    private final Sinks.Empty<Void> gaveWay = Sinks.empty();
    private final long began = System.nanoTime();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Sinks.Empty<Void> gone = Sinks.empty();
    /** Whether the request body was truncated. A resulting failure is not a fault of the handler. */
    private volatile boolean callerLeft;

    /**
     * @param account the account that the call counts for
     * @param from the places of which it takes one
     */
    GuardedCall(HandlerGuard guard, Object account, Quota<Object> from) {
        this.guard = guard;
        this.account = account;
        this.place = from.tryOpen(account, 1, gaveWay::tryEmitEmpty);
    }

    /** Whether the call has a place. A call without one is dropped. */
    boolean admitted() {
        return place != null;
    }

    /**
     * Ends the call. Only the first invocation has an effect. From now on the handler's reads of the request
     * fail.
     */
    private void end(CallOutcome outcome, @Nullable Kind health) {
        if (ended.compareAndSet(false, true)) {
            if (place != null) {
                place.close();
            }
            guard.left(outcome, health, Duration.ofNanos(System.nanoTime() - began));
            gone.tryEmitEmpty();
        }
    }

    /** Ends the call because its time limit is exceeded. */
    void timedOut() {
        end(CallOutcome.TIMED_OUT, Kind.TIMED_OUT);
    }

    private void cancelled() {
        end(CallOutcome.CANCELLED, null);
    }

    private void failed(Throwable error) {
        if (callerLeft) {
            cancelled();
        } else if (error instanceof HandlerException meant) {
            end(CallOutcome.REFUSED, kind(meant.reason()));
        } else {
            end(CallOutcome.FAILED, Kind.FAILED);
        }
    }

    private static Kind kind(Reason reason) {
        return switch (reason) {
            case OVERLOADED -> Kind.REJECTED;
            case UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_BAD_RESPONSE -> Kind.FAILED;
            default -> Kind.GOOD;
        };
    }

    /** Guards a call that returns one value: the root field of a document. */
    <T> Mono<T> single(Mono<T> work) {
        return yielding(guard.bounded(this, work))
                .doOnSuccess(any -> answered(true))
                .doOnError(this::failed)
                .doOnCancel(this::cancelled);
    }

    /** Guards a subscription, which has no time limit. */
    <T> Flux<T> stream(Flux<T> values) {
        return yielding(values, gaveWay)
                .subscribeOn(guard.scheduler())
                .doOnComplete(() -> answered(true))
                .doOnError(this::failed)
                .doOnCancel(this::cancelled);
    }

    /** Guards a call that returns a response. */
    Mono<EdgeResponse> serve(EdgeHandler handler, EdgeRequest request) {
        var inside = new EdgeRequest(request.method(), request.target(), request.headers(),
                inwards(request.body().doOnError(broken -> callerLeft = true), gone), request.context());
        return yielding(guard.bounded(this, Mono.defer(() -> handler.handle(inside))))
                .switchIfEmpty(
                        Mono.error(
                                () -> new IllegalStateException("the handler completed without a response")))
                .map(this::outwards)
                .doOnError(this::failed)
                .doOnCancel(this::cancelled);
    }

    /** Fails with OVERLOADED when the call gives way, and cancels the work. */
    private <T> Mono<T> yielding(Mono<T> work) {
        return Mono.firstWithSignal(work, gaveWay.asMono().then(Mono.error(guard::full)));
    }

    /**
     * The same for a stream, which is cancelled on the handler's threads. Elements that arrive after its end
     * are released.
     */
    private <T> Flux<T> yielding(Flux<T> stream, Sinks.Empty<Void> end) {
        return endedBy(stream.cancelOn(guard.scheduler()), end, guard::full);
    }

    private EdgeResponse outwards(EdgeResponse response) {
        return switch (response) {
            case EdgeResponse.Http http -> new EdgeResponse.Http(http.status(), http.headers(), body(http),
                    http.trailers().subscribeOn(guard.scheduler()), http.hold());
            case EdgeResponse.WebSocket webSocket -> {
                answered(true); // the exchange of frames is counted separately, and only if the caller requested an upgrade
                yield new EdgeResponse.WebSocket(webSocket.headers(),
                        frames -> exchange(webSocket.exchange(), frames));
            }
        };
    }

    private void answered(boolean well) {
        end(well ? CallOutcome.ANSWERED : CallOutcome.FAILED, well ? Kind.GOOD : Kind.FAILED);
    }

    private Flux<ByteBuf> body(EdgeResponse.Http response) {
        boolean well = response.status().code() < 500;
        var begun = new AtomicBoolean();
        return yielding(Flux.defer(() -> begun.compareAndSet(false, true) ? response.body() : Flux.empty()),
                gaveWay)
                .subscribeOn(guard.scheduler())
                .doFinally(signal -> {
                    if (begun.compareAndSet(false, true)) {
                        abandon(response.body());
                    }
                    if (signal == SignalType.CANCEL || (callerLeft && signal == SignalType.ON_ERROR)) {
                        cancelled();
                    } else {
                        answered(well && signal == SignalType.ON_COMPLETE);
                    }
                });
    }

    /** Subscribes to a body that is not sent and cancels it, so that its resources are freed. */
    private void abandon(Flux<ByteBuf> body) {
        Runnable freeing = () -> body.subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.cancel();
            }

            @Override
            protected void hookOnNext(ByteBuf late) {
                late.release();
            }
        });
        try {
            guard.scheduler().schedule(freeing);
        } catch (RejectedExecutionException e) {
            freeing.run(); // on this thread, because the handler's threads refuse it
        }
    }

    private Flux<WebSocketFrame> exchange(Function<Flux<WebSocketFrame>, Flux<WebSocketFrame>> exchange,
            Flux<WebSocketFrame> frames) {
        return Flux.defer(() -> {
            Sinks.Empty<Void> left = Sinks.empty();
            Sinks.Empty<Void> shed = Sinks.empty();
            Quota<Object>.Claim exchangePlace = guard.exchangePlace(account, shed::tryEmitEmpty);
            return yielding(Flux.defer(() -> exchange.apply(inwards(frames, left))), shed)
                    .subscribeOn(guard.scheduler())
                    .doFinally(signal -> {
                        exchangePlace.close();
                        left.tryEmitEmpty();
                    });
        });
    }

    /**
     * Delivers elements on the handler's own threads. Elements that the handler does not take are released
     * when the call has ended.
     */
    private <T extends ReferenceCounted> Flux<T> inwards(Flux<T> arriving, Sinks.Empty<Void> end) {
        return endedBy(arriving.publishOn(guard.steady(), PREFETCH), end,
                () -> HandlerException.of(Reason.BAD_REQUEST, "the call has ended"));
    }

    /**
     * Fails when {@code end} completes. An element that is under way when the stream ends or is cancelled is
     * discarded, and so released, by takeUntilOther.
     */
    private static <T> Flux<T> endedBy(Flux<T> stream, Sinks.Empty<Void> end, Supplier<Throwable> why) {
        return stream.takeUntilOther(end.asMono()) // takeUntilOther does not cancel its source on an error
                .concatWith(Mono.defer(() -> ended(end) ? Mono.error(why.get()) : Mono.empty()))
                .doOnDiscard(ReferenceCounted.class, ReferenceCountUtil::safeRelease);
    }

    private static boolean ended(Sinks.Empty<Void> end) {
        return Boolean.TRUE.equals(end.scan(Scannable.Attr.TERMINATED));
    }
}
