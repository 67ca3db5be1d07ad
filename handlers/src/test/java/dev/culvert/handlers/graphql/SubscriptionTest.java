package dev.culvert.handlers.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class SubscriptionTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final int MAX = 2;

    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicLong made = new AtomicLong();
    private final GraphQlHandler handler = new GraphQlHandler(List.of(new Ticks()),
            new GraphQlLimits(4096, 1 << 20, 1024, 100_000, 20, 200, 4, 64, 1 << 16, MAX),
            Schedulers.immediate());

    private record Tick(long number, String text) {}

    private final class Ticks implements GraphQlFunction {
        @Override
        public String schema() {
            return """
                    extend type Subscription { three: Tick! endless: Tick! fails: Tick! large: Tick! silent: Tick! }
                    type Tick { number: Int! text: String! }
                    """;
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of();
        }

        @Override
        public Map<String, GraphQlStream> streams() {
            Flux<Tick> endless = Flux.<Tick>generate(sink -> sink.next(new Tick(made.getAndIncrement(), "x")))
                    .doOnSubscribe(any -> open.incrementAndGet())
                    .doFinally(any -> open.decrementAndGet());
            return Map.of("Subscription.three", call -> Flux.range(1, 3).map(i -> new Tick(i, "tick")),
                    "Subscription.endless", call -> endless, "Subscription.fails",
                    call -> Flux.concat(Flux.just(new Tick(1, "one")),
                            Flux.error(HandlerException.of(Reason.UNAVAILABLE, "the source is away"))),
                    "Subscription.silent", call -> Flux.interval(Duration.ofHours(1))
                            .map(number -> new Tick(number, "late"))
                            .doOnCancel(ended::incrementAndGet),
                    "Subscription.large", call -> Flux.just(new Tick(1, "x".repeat(1 << 16))));
        }
    }

    @Test
    void eachValueIsAnEventOfTheSelectedFields() {
        assertThat(body(request("three { number }", true))).isEqualTo("""
                event: next
                data: {"data":{"three":{"number":1}}}

                event: next
                data: {"data":{"three":{"number":2}}}

                event: next
                data: {"data":{"three":{"number":3}}}

                event: complete
                data:

                """);
    }

    @Test
    void aFailureIsTheLastEvent() {
        assertThat(body(request("fails { number }", true))).startsWith("event: next\ndata: {\"data\"")
                .contains("{\"errors\":[{", "the source is away", "\"code\":\"unavailable\"")
                .endsWith("event: complete\ndata:\n\n");
    }

    @Test
    void itEndsWithItsCallersCredentials() {
        var asked = new AtomicInteger();
        var known = new GraphQlHandler(List.of(new Ticks()),
                new GraphQlLimits(4096, 1 << 20, 1024, 100_000, 20, 200, 4, 64, 1 << 16, MAX),
                Schedulers.immediate(), request -> asked.getAndIncrement() == 0
                        ? Mono.just("jo")
                        : Mono.error(HandlerException.of(Reason.UNAUTHORIZED, "the API key is revoked")));
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(known.handle(request("silent { number }", true)).block(TIME));

        String body = Objects.requireNonNull(response.body()
                .map(SubscriptionTest::released)
                .collect(Collectors.joining())
                .block(TIME));

        assertThat(body).contains("the API key is revoked", "\"code\":\"unauthorized\"")
                .endsWith("event: complete\ndata:\n\n");
        assertThat(ended).hasValue(1);
    }

    private static String released(ByteBuf buffer) {
        String text = buffer.toString(StandardCharsets.UTF_8);
        buffer.release();
        return text;
    }

    @Test
    void anEventBeyondTheMemoryOfAnAnswerBreaksTheStreamOff() {
        StepVerifier.create(response(request("large { text }", true)).body())
                .verifyErrorSatisfies(
                        error -> assertThat(error).hasMessageContaining("takes more than 65536 bytes"));
    }

    @Test
    void withoutTheRightAcceptItIsRefused() {
        StepVerifier.create(handler.handle(request("endless { number }", false)))
                .assertNext(response -> assertThat(((EdgeResponse.Http) response).status().code())
                        .isEqualTo(400))
                .verifyComplete();
        assertThat(open.get()).isZero();
    }

    @Test
    void aSlowCallerSlowsTheSourceAndACallerWhoLeavesEndsIt() {
        var reader = new BaseSubscriber<ByteBuf>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(3);
            }

            @Override
            protected void hookOnNext(ByteBuf event) {
                event.release();
            }
        };
        response(request("endless { number }", true)).body().subscribe(reader);

        assertThat(open.get()).isEqualTo(1);
        assertThat(made.get()).isBetween(3L, 8L);

        reader.cancel();

        await().atMost(TIME).until(() -> open.get() == 0);
    }

    @Test
    void oneCallerHasABoundedNumber() {
        Waiting one = new Waiting();
        Waiting two = new Waiting();
        response(request("endless { number }", true)).body().subscribe(one);
        response(request("endless { number }", true)).body().subscribe(two);

        StepVerifier.create(handler.handle(request("endless { number }", true)))
                .verifyErrorSatisfies(error -> assertThat(error).hasMessageContaining("you have 2"));

        one.cancel();
        Waiting three = new Waiting();
        response(request("endless { number }", true)).body().subscribe(three);
        two.cancel();
        three.cancel();
    }

    /** Asks for nothing. */
    private static final class Waiting extends BaseSubscriber<ByteBuf> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            // the caller does not read
        }

        @Override
        protected void hookOnNext(ByteBuf event) {
            event.release();
        }
    }

    @Test
    void everyDeclaredStreamHasItsSource() {
        assertThatIllegalArgumentException().isThrownBy(() -> new GraphQlHandler(List.of(
                new GraphQlFunction() {
                    @Override
                    public String schema() {
                        return "extend type Subscription { nobody: String }";
                    }

                    @Override
                    public Map<String, GraphQlField> fields() {
                        return Map.of();
                    }
                }), GraphQlLimits.defaults())).withMessageContaining("Subscription.nobody");
    }

    private String body(EdgeRequest request) {
        EdgeResponse.Http response = response(request);
        assertThat(response.headers().get("content-type")).isEqualTo("text/event-stream");
        return Objects.requireNonNull(response.body().map(event -> {
            String text = event.toString(StandardCharsets.UTF_8);
            event.release();
            return text;
        }).reduce("", String::concat).block(TIME));
    }

    private EdgeResponse.Http response(EdgeRequest request) {
        return (EdgeResponse.Http) Objects.requireNonNull(handler.handle(request).block(TIME));
    }

    private static EdgeRequest request(String selection, boolean eventStream) {
        byte[] bytes = ("{\"query\":\"subscription { " + selection + " }\"}")
                .getBytes(StandardCharsets.UTF_8);
        var fields = new DefaultHttpHeaders().set("content-type", "application/json")
                .set("content-length", bytes.length);
        if (eventStream) {
            fields.set("accept", "text/event-stream");
        }
        return new EdgeRequest(HttpMethod.POST, "/graphql", fields,
                Flux.defer(() -> Mono.just(Unpooled.wrappedBuffer(bytes))),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }
}
