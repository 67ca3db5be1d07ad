package dev.culvert.handlers.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** What answers take in memory, and who gives way when there is no more. */
class AnswersTest {
    private static final Duration TIME = Duration.ofSeconds(30);
    private static final int MEMORY = 1 << 20;
    private static final int ANSWER = 150_000;

    private final Sinks.One<String> late = Sinks.one();
    private final AtomicReference<@Nullable GraphQlCall> lateCall = new AtomicReference<>();
    private final GraphQlHandler handler = new GraphQlHandler(List.of(new Texts()),
            new GraphQlLimits(4096, MEMORY, 1024, 100_000, 20, 200, 16, 20, ANSWER, 2),
            Schedulers.immediate(),
            request -> Mono.just(request.headers().get("caller", "ada")));

    private record Text(String data, List<String> lines) {}

    @Test
    void whatFitsIsAnsweredWholeAndFreedWhenItIsTaken() {
        EdgeResponse.Http answer = answer("{ text(bytes: 40000) { data lines } }");

        assertThat(handler.memoryInUse()).isBetween(40_000L, (long) ANSWER);
        String json = taken(answer);
        assertThat(json).hasSize(Integer.parseInt(answer.headers().get("content-length")))
                .isEqualTo("{\"data\":{\"text\":{\"data\":\"" + "x".repeat(40_000) + "\",\"lines\":[]}}}");
        assertThat(handler.memoryInUse()).isZero();
    }

    /** Values of one field and of many, the same text many times, lists, and text that JSON makes longer. */
    @ParameterizedTest
    @ValueSource(strings = {"{ text(bytes: 100001) { data } }", "{ plain(bytes: 100001) }",
            "{ a: text(bytes: 45000) { data } b: text(bytes: 45000) { data } }",
            "{ text(bytes: 30000) { a: data b: data c: data } }", "{ text(lines: 1000) { lines } }",
            "{ text(bytes: 25000, character: \"\\u0001\") { data } }",
            "{ text(bytes: 40000, character: \"\u20ac\") { data } }"})
    void anAnswerBeyondItsBoundEndsTheDocument(String document) {
        refused(Reason.BODY_TOO_LARGE, "ada", document);

        assertThat(handler.memoryInUse()).isZero();
        assertThat(taken(answer("{ text(bytes: 1) { data } }"))).contains("\"x\"");
    }

    @Test
    void theNewestAnswerOfTheHeaviestGivesWay() {
        List<Throwable> cut = new ArrayList<>();
        List<Disposable> holds = new ArrayList<>();
        for (String caller : List.of("ada", "eve")) {
            for (int i = 0; i < 6; i++) {
                EdgeResponse.Http answer = Objects
                        .requireNonNull(handle(caller, "{ text(bytes: 45000) { data } }").block(TIME));
                holds.add(answer.hold().subscribe(any -> {}, cut::add));
            }
        }
        assertThat(handler.memoryInUse()).isBetween(MEMORY / 2L, (long) MEMORY);
        refusedOrServedLater("ada");
        assertThat(cut).isEmpty();
        for (int i = 0; i < 4; i++) {
            EdgeResponse.Http answer = Objects
                    .requireNonNull(handle("bob", "{ text(bytes: 45000) { data } }").block(TIME));
            holds.add(answer.hold().subscribe(any -> {}, cut::add));
        }

        assertThat(cut).isNotEmpty()
                .allSatisfy(error -> assertThat(((HandlerException) error).reason())
                        .isEqualTo(Reason.OVERLOADED));
        holds.forEach(Disposable::dispose);
        assertThat(handler.memoryInUse()).isZero();
    }

    /** One caller has at most half, also while nobody else needs it. */
    private void refusedOrServedLater(String caller) {
        List<EdgeResponse.Http> more = new ArrayList<>();
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> {
            for (int i = 0; i < 100; i++) {
                more.add(Objects
                        .requireNonNull(handle(caller, "{ text(bytes: 20000) { data } }").block(TIME)));
            }
        }).satisfies(error -> {
            assertThat(error.reason()).isEqualTo(Reason.OVERLOADED);
            assertThat(error.retryAfter()).isNotNull();
        });
        more.forEach(AnswersTest::taken);
    }

    @Test
    void whatAFieldLoadsCountsUntilItsValueIsComplete() {
        refused(Reason.OVERLOADED, "ada", "{ loads(bytes: 600000) }");
        assertThat(taken(answer("{ a: loads(bytes: 400000) b: loads(bytes: 400000) }")))
                .isEqualTo("{\"data\":{\"a\":\"loaded\",\"b\":\"loaded\"}}");
        assertThat(handler.memoryInUse()).isZero();
    }

    @Test
    void anAnswerWhoseValueWasLoadedCountsUntilItIsTaken() {
        EdgeResponse.Http answer = answer("{ file(bytes: 40000) }");

        assertThat(handler.memoryInUse()).isBetween(40_000L, (long) ANSWER);
        taken(answer);
        assertThat(handler.memoryInUse()).isZero();
    }

    @Test
    void whoLeavesFreesItAndNothingIsClaimedForThemAfterwards() {
        Disposable caller = handle("ada", "{ late text(bytes: 45000) { data } }").subscribe();
        GraphQlCall call = Objects.requireNonNull(lateCall.get());
        call.claim(100_000);
        assertThat(handler.memoryInUse()).isGreaterThan(145_000);

        caller.dispose();

        assertThat(handler.memoryInUse()).isZero();
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> call.claim(1));
        late.tryEmitValue("too late");
        assertThat(handler.memoryInUse()).isZero();
    }

    @Test
    void theRootFieldsOfOneCallerAreBounded() {
        List<Disposable> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            waiting.add(handle("ada", "{ a: late b: late }").subscribe());
        }

        refused(Reason.OVERLOADED, "ada", "{ rootFields }");
        assertThat(Objects.requireNonNull(handle("bob", "{ rootFields }").block(TIME)).status().code())
                .isEqualTo(200);
        waiting.forEach(Disposable::dispose);
        assertThat(taken(answer("{ rootFields }"))).contains("Query.late");
    }

    /** A document that is still being made gives way, too: it ends with a 503, and its calls are cancelled. */
    @Test
    void aDocumentInTheMakingGivesWay() {
        List<Throwable> failures = new ArrayList<>();
        var _ = handle("ada", "{ late }").subscribe(any -> {}, failures::add);
        Objects.requireNonNull(lateCall.get()).claim(400_000);
        for (String caller : List.of("bob", "eve")) {
            var _ = handle(caller, "{ loads(bytes: 350000) late }").subscribe(any -> {}, failures::add);
            Objects.requireNonNull(lateCall.get()).claim(350_000);
        }

        assertThat(failures).singleElement()
                .satisfies(error -> assertThat(((HandlerException) error).reason())
                        .isEqualTo(Reason.OVERLOADED));
        assertThat(late.currentSubscriberCount()).isEqualTo(2);
    }

    private void refused(Reason reason, String caller, String document) {
        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> handle(caller, document).block(TIME))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(reason));
    }

    private EdgeResponse.Http answer(String document) {
        return Objects.requireNonNull(handle("ada", document).block(TIME));
    }

    private Mono<EdgeResponse.Http> handle(String caller, String document) {
        byte[] body = ("{\"query\":\"" + document.replace("\\", "\\\\").replace("\"", "\\\"") + "\"}")
                .getBytes(StandardCharsets.UTF_8);
        Flux<ByteBuf> parts = Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body)));
        var request = new EdgeRequest(HttpMethod.POST, "/app-proxy/api/graphql",
                new DefaultHttpHeaders().set("content-type", "application/json").set("caller", caller),
                parts, RequestContext.of("r-1", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
        return handler.handle(request).cast(EdgeResponse.Http.class);
    }

    /** Reads an answer as the server does. */
    private static String taken(EdgeResponse.Http answer) {
        var text = new StringBuilder();
        Mono.firstWithSignal(answer.hold(), answer.body().doOnNext(part -> {
            text.append(part.toString(StandardCharsets.UTF_8));
            part.release();
        }).then()).block(TIME);
        return text.toString();
    }

    private static int number(GraphQlCall call, String argument) {
        return (int) Objects.requireNonNull(call.arguments().get(argument));
    }

    private final class Texts implements GraphQlFunction {
        @Override
        public String schema() {
            return """
                    type Text { data: String! lines: [String!]! }
                    extend type Query {
                      text(bytes: Int = 0, lines: Int = 0, character: String = "x"): Text
                      plain(bytes: Int): String
                      loads(bytes: Int): String
                      file(bytes: Int): String
                      late: String
                    }
                    """;
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of("Query.text", call -> {
                String character = String.valueOf(call.arguments().get("character"));
                int lines = number(call, "lines");
                return Mono.just(new Text(character.repeat(number(call, "bytes")),
                        java.util.Collections.nCopies(lines, "y".repeat(100))));
            }, "Query.plain", call -> Mono.just("x".repeat(number(call, "bytes"))),
                    "Query.loads", call -> {
                        call.claim(number(call, "bytes"));
                        return Mono.just("loaded");
                    }, "Query.file", call -> {
                        call.claim(5L * number(call, "bytes"));
                        return Mono.just("x".repeat(number(call, "bytes")));
                    }, "Query.late", call -> {
                        lateCall.set(call);
                        return late.asMono();
                    });
        }
    }
}
