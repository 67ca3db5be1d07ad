package dev.culvert.handlers.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.handlers.spi.TestHandlers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

class HandlerGuardTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final EdgeRequest REQUEST = TestHandlers.get("/");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final HandlerGuard guard = guard(new HandlerLimits(2, Duration.ofMillis(200), 2));
    private final CountDownLatch held = new CountDownLatch(1);

    @AfterEach
    void free() {
        held.countDown();
        guard.stop();
    }

    @Test
    void callsBeyondTheLimitAreRefusedUntilOneEnds() {
        Sinks.One<EdgeResponse> answer = Sinks.one();
        EdgeHandler handler = guard.around(request -> answer.asMono());

        Disposable first = handler.handle(REQUEST).subscribe();
        Disposable second = handler.handle(REQUEST).subscribe();
        verifyFails(handler, Reason.OVERLOADED);
        first.dispose();
        second.dispose();

        assertThat(guard.active()).isZero();
        assertThat(registry.counter("culvert.handler.rejected", "handler", "h").count()).isEqualTo(1);
        assertThat(ended("cancelled")).isEqualTo(2);
    }

    @Test
    void theCallsOfOneSourceGiveWayToAnothers() {
        Sinks.One<EdgeResponse> never = Sinks.one();
        HandlerGuard shared = new HandlerGuard("shared", new HandlerLimits(2, TIME, 2), registry);
        EdgeHandler handler = shared.around(request -> request.path().equals("/body")
                ? Mono.just(streaming(Flux.never()))
                : never.asMono());
        List<Throwable> ended = Collections.synchronizedList(new ArrayList<>());
        handler.handle(from("127.0.0.66", "/")).subscribe(any -> {}, ended::add);
        handler.handle(from("127.0.0.66", "/body"))
                .flatMapMany(response -> ((EdgeResponse.Http) response).body())
                .subscribe(any -> {}, ended::add);
        StepVerifier.create(handler.handle(from("127.0.0.66", "/"))).verifyError(HandlerException.class);

        Disposable other = handler.handle(from("127.0.0.7", "/")).subscribe();

        Awaitility.await().atMost(TIME).until(() -> !ended.isEmpty());
        assertThat(ended).singleElement()
                .isInstanceOfSatisfying(HandlerException.class,
                        why -> assertThat(why.reason()).isEqualTo(Reason.OVERLOADED));
        assertThat(shared.active()).isEqualTo(2);
        assertThat(other.isDisposed()).isFalse();
        other.dispose();
        shared.stop();
    }

    private static EdgeRequest from(String source, String target) {
        return TestHandlers.get(target)
                .withContext(RequestContext.of("r", new InetSocketAddress(source, 1)));
    }

    @Test
    void aHandlerThatBlocksIsInterruptedWhenItsTimeIsOver() throws InterruptedException {
        var interrupted = new CountDownLatch(1);
        EdgeHandler handler = guard.around(request -> {
            try {
                held.await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
            return Mono.never();
        });

        verifyFails(handler, Reason.UPSTREAM_TIMEOUT);

        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(ended("timed-out")).isEqualTo(1);
        assertThat(guard.active()).isZero();
    }

    @Test
    void aHandlerThatThrowsFailsItsCallAlone() {
        EdgeHandler handler = guard.around(request -> {
            throw new IllegalStateException("x");
        });

        StepVerifier.create(handler.handle(REQUEST)).verifyErrorMessage("x");

        assertThat(ended("failed")).isEqualTo(1);
        assertThat(guard.trouble()).as("one failure").isNull();
        for (int i = 1; i < HandlerHealth.ENOUGH; i++) {
            StepVerifier.create(handler.handle(REQUEST)).verifyErrorMessage("x");
        }
        assertThat(guard.trouble()).contains("5 of 5 calls").contains("5 failed");
    }

    @Test
    void aLinkageErrorEndsInTimeToo() {
        verifyFails(guard.around(request -> {
            throw new NoClassDefFoundError("x");
        }), Reason.UPSTREAM_TIMEOUT);
    }

    @Test
    void whatTheHandlerMeansIsNoFailure() {
        EdgeHandler handler = guard
                .around(request -> Mono.error(HandlerException.of(Reason.CONFLICT, "stale")));

        for (int i = 0; i < 2 * HandlerHealth.ENOUGH; i++) {
            verifyFails(handler, Reason.CONFLICT);
        }

        assertThat(ended("refused")).isEqualTo(2 * HandlerHealth.ENOUGH);
        assertThat(guard.trouble()).isNull();
    }

    @Test
    void theHandlersCodeRunsOnItsOwnThreads() {
        var threads = new AtomicReference<>("");
        EdgeHandler handler = guard.around(request -> {
            note(threads);
            return request.body()
                    .doOnNext(any -> note(threads))
                    .map(HandlerGuardTest::released)
                    .then(Mono.fromSupplier(() -> streaming(Flux.defer(() -> {
                        note(threads);
                        return Flux.just(buffer());
                    }))));
        });

        var response = (EdgeResponse.Http) Objects.requireNonNull(handler
                .handle(TestHandlers.request("/", Flux.defer(() -> Flux.just(buffer()))))
                .block(TIME));
        response.body().map(HandlerGuardTest::released).blockLast(TIME);

        assertThat(threads.get()).matches("(culvert-handler-h-\\d+-\\d+ ){3}");
        Awaitility.await().until(() -> guard.active() == 0);
        assertThat(ended("answered")).isEqualTo(1);
    }

    @Test
    void aBodyThatIsNotSentIsFreedAndEndsItsCall() throws InterruptedException {
        var freed = new CountDownLatch(1);
        EdgeHandler handler = guard.around(
                request -> Mono.just(streaming(Flux.<ByteBuf>never().doOnCancel(freed::countDown))));

        var response = (EdgeResponse.Http) Objects.requireNonNull(handler.handle(REQUEST).block(TIME));
        response.body().subscribe().dispose();

        assertThat(freed.await(10, TimeUnit.SECONDS)).isTrue();
        Awaitility.await().until(() -> guard.active() == 0);
    }

    @Test
    void anElementUnderWayWhenTheCallerLeavesIsReleased() throws InterruptedException {
        var reading = new CountDownLatch(1);
        ByteBuf late = Unpooled.buffer(1).writeByte(1);
        Flux<ByteBuf> body = Flux.from(reader -> reader.onSubscribe(new Subscription() {
            @Override
            public void request(long n) {
                reading.countDown();
            }

            @Override
            public void cancel() {
                reader.onNext(late);
            }
        }));

        Disposable caller = guard.around(request -> Mono.just(streaming(body)))
                .handle(REQUEST)
                .flatMapMany(response -> ((EdgeResponse.Http) response).body())
                .subscribe(ByteBuf::release);
        assertThat(reading.await(10, TimeUnit.SECONDS)).isTrue();
        caller.dispose();

        Awaitility.await().atMost(TIME).until(() -> late.refCnt() == 0);
    }

    @Test
    void whatAHandlerNeverReadsIsReleasedWithItsCall() {
        ByteBuf unread = buffer();
        Sinks.Empty<Void> asked = Sinks.empty();
        HandlerGuard patient = new HandlerGuard("patient", new HandlerLimits(2, TIME, 2), registry);
        EdgeHandler handler = patient.around(request -> {
            request.body().subscribe(new BaseSubscriber<>() {
                @Override
                protected void hookOnError(Throwable error) {
                    // its call has ended
                }

                @Override
                protected void hookOnSubscribe(Subscription subscription) {
                    // asks for nothing, and does not let go
                }
            });
            return Mono.never();
        });

        Disposable call = handler
                .handle(TestHandlers.request("/", Flux.just(unread)
                        .concatWith(Flux.<ByteBuf>never().doOnSubscribe(any -> asked.tryEmitEmpty()))))
                .subscribe(any -> {}, any -> {});
        asked.asMono().block(TIME);
        call.dispose();

        Awaitility.await().until(() -> unread.refCnt() == 0);
        patient.stop();
    }

    @Test
    void aFunctionsFieldsAreCallsOfTheirHandler() {
        GraphQlFunction function = guard.around(new GraphQlFunction() {
            @Override
            public String schema() {
                return "";
            }

            @Override
            public Map<String, GraphQlField> fields() {
                return Map.of("Query.a", call -> Mono.never());
            }
        });

        StepVerifier.create(Objects.requireNonNull(function.fields().get("Query.a"))
                .call(new GraphQlCall(Map.of(), REQUEST.headers(), REQUEST.context())))
                .verifyErrorSatisfies(
                        error -> assertThat(error).hasMessageContaining("handler h gave no answer"));
        assertThat(ended("timed-out")).isEqualTo(1);
    }

    private HandlerGuard guard(HandlerLimits limits) {
        return new HandlerGuard("h", limits, registry);
    }

    private long ended(String outcome) {
        return registry.timer("culvert.handler", "handler", "h", "outcome", outcome).count();
    }

    private static void verifyFails(EdgeHandler handler, Reason reason) {
        StepVerifier.create(handler.handle(REQUEST))
                .verifyErrorSatisfies(
                        error -> assertThat(error).isInstanceOfSatisfying(HandlerException.class,
                                refusal -> assertThat(refusal.reason()).isEqualTo(reason)));
    }

    private static void note(AtomicReference<String> threads) {
        threads.updateAndGet(before -> before + Thread.currentThread().getName() + " ");
    }

    private static EdgeResponse streaming(Flux<ByteBuf> body) {
        return EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(), body);
    }

    private static ByteBuf buffer() {
        return Unpooled.buffer().writeZero(1);
    }

    private static int released(ByteBuf buffer) {
        int bytes = buffer.readableBytes();
        buffer.release();
        return bytes;
    }
}
