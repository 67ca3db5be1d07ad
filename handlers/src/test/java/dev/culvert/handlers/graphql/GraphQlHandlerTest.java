package dev.culvert.handlers.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import graphql.introspection.IntrospectionQuery;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class GraphQlHandlerTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String SCHEMA = """
            type Book { title: String! pages: Int parent: Book }
            input BookArgs { title: String! pages: Int }
            extend type Query { book(title: String): Book fails: String hangs: String late: String }
            extend type Mutation { add(args: BookArgs!): Book! stale: Book! bug: Book slow: Book }
            """;

    /** What a request takes before its body, and room for ten of these. */
    private static final int REQUEST = 16 << 10;
    private static final int MEMORY = 10 * REQUEST;

    private final List<String> events = new ArrayList<>();
    private final Sinks.One<Book> slow = Sinks.one();
    private final GraphQlHandler handler = new GraphQlHandler(List.of(new Books()),
            new GraphQlLimits(4096, MEMORY, 1024, 100_000, 20, 200, 4, 64, 1 << 20, 2),
            Schedulers.immediate(),
            request -> request.headers().get("caller", "").equals("nobody")
                    ? Mono.error(HandlerException.of(Reason.UNAUTHORIZED, "who are you"))
                    : Mono.just(request.headers().get("caller", "somebody")));

    /** Nobody but its package sees it. */
    private record Book(String title, int pages, @Nullable Book parent) {}

    @Test
    void aQueryIsAnsweredWithWhatItAsksFor() throws IOException {
        JsonNode answer = answer(200, "query Q($t: String) { one: book(title: $t) { title pages } }",
                Map.of("t", "Emma"));

        assertThat(answer.toString()).isEqualTo("{\"data\":{\"one\":{\"title\":\"Emma\",\"pages\":12}}}");
    }

    @Test
    void anErrorThatIsMeantIsTold() throws IOException {
        JsonNode answer = answer(409, "mutation { stale { title } }", Map.of());

        JsonNode error = answer.at("/errors/0");
        assertThat(error.path("message").asText()).isEqualTo("the file is at revision 100% another");
        assertThat(error.path("path").toString()).isEqualTo("[\"stale\"]");
        assertThat(error.path("extensions").toString()).isEqualTo(
                "{\"code\":\"conflict\",\"status\":409,\"type\":\"urn:culvert:problem:conflict\",\"requestId\":\"r-1\"}");
    }

    @Test
    void anErrorThatNobodyMeantSaysNothingOfTheInside() throws IOException {
        JsonNode answer = answer(500, "mutation { bug { title } }", Map.of());

        assertThat(answer.toString()).contains("\"code\":\"internal\"").doesNotContain("password");
    }

    @Test
    void dataOfOneFieldMakesTheAnswerGood() throws IOException {
        JsonNode answer = answer(200, "{ book(title: \"a\") { title } fails }", Map.of());

        assertThat(answer.at("/data/book/title").asText()).isEqualTo("a");
        assertThat(answer.at("/errors/0/extensions/status").asInt()).isEqualTo(503);
    }

    @Test
    void mutationsAreMadeOneAfterTheOther() throws IOException {
        var answer = handler
                .handle(post("mutation { slow { title } add(args: {title: \"b\"}) { title } }", Map.of()));

        StepVerifier.create(answer)
                .then(() -> assertThat(events).containsExactly("slow"))
                .then(() -> slow.tryEmitValue(new Book("s", 1, null)))
                .expectNextCount(1)
                .verifyComplete();
        assertThat(events).containsExactly("slow", "add b");
    }

    @Test
    void aCallerThatLeavesCancelsItsCalls() {
        StepVerifier.create(handler.handle(post("{ hangs late }", Map.of()))).thenCancel().verify();
        StepVerifier.create(handler.handle(post("{ hangs late }", Map.of())))
                .expectSubscription()
                .expectNoEvent(Duration.ofMillis(1))
                .thenCancel()
                .verify();

        assertThat(events).contains("hangs cancelled");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "{ nothing }", "{ book { title { x } } }",
            "{ a:fails b:fails c:fails d:fails e:fails }",
            "{ book { ...f } } fragment f on Book { parent { ...f } }", "{ book(title: 1) { title } }"})
    void aDocumentThatIsWrongIsRefusedBeforeAnythingIsCalled(String document) throws IOException {
        JsonNode answer = answer(400, document, Map.of());

        assertThat(answer.at("/errors/0/extensions/code").asText()).isEqualTo("bad-request");
        assertThat(events).isEmpty();
    }

    @Test
    void depthAndFieldsAreBounded() throws IOException {
        assertThat(answer(400, "{ book " + "{ parent ".repeat(20) + "{ title }" + "}".repeat(21), Map.of())
                .toString())
                .contains("deeper than 20");
        assertThat(answer(400, "{ book { " + "title ".repeat(200) + "} }", Map.of()).toString())
                .contains("more than 200 fields");
        String twice = "fragment f0 on Book { title }";
        for (int i = 1; i < 40; i++) {
            twice += " fragment f" + i + " on Book { ...f" + (i - 1) + " ...f" + (i - 1) + " }";
        }
        assertThat(answer(400, "{ book { ...f39 } } " + twice, Map.of()).toString())
                .contains("spreads its fragments too often");
    }

    @Test
    void introspectionWorks() throws IOException {
        JsonNode answer = answer(200, new GraphQlHandler(List.of(new Books()), GraphQlLimits.defaults()),
                IntrospectionQuery.INTROSPECTION_QUERY, Map.of());

        assertThat(answer.at("/data/__schema/types").toString()).contains("BookArgs");
    }

    /** Each step of it would multiply the answer by the number of types. */
    @Test
    void introspectionThatGoesInCirclesIsRefused() throws IOException {
        String document = "{ __schema { types { " + "fields { type { ".repeat(6) + "name" + " } }".repeat(6)
                + " } } }";

        assertThat(answer(400, new GraphQlHandler(List.of(new Books()), GraphQlLimits.defaults()), document,
                Map.of()).toString()).doesNotContain("\"data\":{");
    }

    @Test
    void bodiesAreBounded() {
        verifyRefused(request("x".repeat(5000), "application/json"), Reason.BODY_TOO_LARGE);
    }

    @Test
    void whatIsOnlyAnnouncedTakesNoRoom() {
        var waiting = Disposables.composite();
        for (int i = 0; i < 8; i++) {
            waiting.add(handler.handle(waiting("alice")).subscribe());
        }

        StepVerifier.create(handler.handle(from("bob", "{ rootFields }")))
                .expectNextCount(1)
                .verifyComplete();
        waiting.dispose();
    }

    @Test
    void theHeaviestCallersBodyGivesWay() {
        List<Throwable> given = new ArrayList<>();
        for (int i = 0; i < MEMORY / REQUEST; i++) {
            var _ = handler.handle(waiting("alice")).subscribe(answer -> {}, given::add);
        }
        assertThat(given).isEmpty();

        StepVerifier.create(handler.handle(from("bob", "{ rootFields }")))
                .expectNextCount(1)
                .verifyComplete();

        assertThat(given).isNotEmpty()
                .allSatisfy(error -> assertThat(((HandlerException) error).reason())
                        .isEqualTo(Reason.OVERLOADED));
    }

    @Test
    void aStrangersBodyIsSmall() {
        verifyRefused(from("nobody", "{ rootFields }" + " ".repeat(1024)), Reason.UNAUTHORIZED);
        EdgeRequest unannounced = from("nobody", "{ rootFields }" + " ".repeat(1024));
        unannounced.headers().remove("content-length");
        verifyRefused(unannounced, Reason.UNAUTHORIZED);

        StepVerifier.create(handler.handle(from("nobody", "{ rootFields }")))
                .expectNextCount(1)
                .verifyComplete();
    }

    @Test
    void moreTokensThanItMayHaveAreRefused() throws IOException {
        String many = "{\"query\":\"{ rootFields }\",\"variables\":{\"a\":["
                + "0,".repeat(GraphQlRequest.MAX_TOKENS) + "0]}}";
        var large = new GraphQlHandler(List.of(new Books()), GraphQlLimits.defaults());

        var answer = (EdgeResponse.Http) Objects
                .requireNonNull(large.handle(request(many, "application/json")).block());

        assertThat(answer.status().code()).isEqualTo(400);
    }

    @Test
    void browsersCannotSendItAcrossOriginsUnasked() {
        verifyRefused(request("{\"query\":\"{ rootFields }\"}", "text/plain"), Reason.BAD_REQUEST);
    }

    @Test
    void whoCarriesATokenMayNameTheTypeThatCurlDoes() throws IOException {
        EdgeRequest request = request("{\"query\":\"{ rootFields }\"}",
                "application/x-www-form-urlencoded");
        request.headers().set("authorization", "token");

        EdgeResponse.Http answer = (EdgeResponse.Http) Objects
                .requireNonNull(handler.handle(request).block());

        assertThat(json(answer).at("/data/rootFields").toString()).contains("Query.book");
    }

    @Test
    void theMediaTypeIsWhatTheCallerAccepts() throws IOException {
        EdgeRequest request = post("{ rootFields }", Map.of());
        request.headers().set("accept", "application/graphql-response+json, application/json;q=0.9");

        EdgeResponse.Http answer = (EdgeResponse.Http) Objects
                .requireNonNull(handler.handle(request).block());

        assertThat(answer.headers().get("content-type"))
                .isEqualTo("application/graphql-response+json; charset=utf-8");
        assertThat(json(answer).at("/data/rootFields").toString()).contains("Query.book", "Mutation.add");
    }

    @Test
    void aRootFieldThatNothingAnswersIsAMistakeOfTheFunction() {
        GraphQlFunction wrong = new GraphQlFunction() {
            @Override
            public String schema() {
                return "extend type Query { a: String }";
            }

            @Override
            public Map<String, GraphQlField> fields() {
                return Map.of("Query.b", call -> Mono.empty());
            }
        };

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GraphQlHandler(List.of(wrong), GraphQlLimits.defaults()))
                .withMessageContaining("Query.a")
                .withMessageContaining("Query.b");
    }

    private JsonNode answer(int status, String document, Map<String, Object> variables) throws IOException {
        return answer(status, handler, document, variables);
    }

    private static JsonNode answer(int status, GraphQlHandler handler, String document,
            Map<String, Object> variables)
            throws IOException {
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(handler.handle(post(document, variables)).block());
        JsonNode json = json(response);
        assertThat(response.status().code()).as(json.toString()).isEqualTo(status);
        return json;
    }

    private static JsonNode json(EdgeResponse.Http response) throws IOException {
        ByteBuf body = Objects.requireNonNull(response.body()
                .collect(Unpooled::buffer, (whole, part) -> {
                    whole.writeBytes(part);
                    part.release();
                })
                .block());
        return JSON.readTree(body.toString(StandardCharsets.UTF_8));
    }

    private void verifyRefused(EdgeRequest request, Reason reason) {
        StepVerifier.create(handler.handle(request))
                .verifyErrorSatisfies(
                        error -> assertThat(error).isInstanceOfSatisfying(HandlerException.class,
                                refusal -> assertThat(refusal.reason()).isEqualTo(reason)));
    }

    private static EdgeRequest post(String document, Map<String, Object> variables) {
        return request(JSON.valueToTree(Map.of("query", document, "variables", variables)).toString(),
                "application/json; charset=utf-8");
    }

    private static EdgeRequest request(String body, String type) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        return request(type, bytes.length, Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(bytes))));
    }

    private static EdgeRequest waiting(String caller) {
        EdgeRequest request = request("application/json", 4096, Flux.never());
        request.headers().set("caller", caller);
        return request;
    }

    private static EdgeRequest from(String caller, String document) {
        EdgeRequest request = post(document, Map.of());
        request.headers().set("caller", caller);
        return request;
    }

    private static EdgeRequest request(String type, int length, Flux<ByteBuf> body) {
        return new EdgeRequest(HttpMethod.POST, "/app-proxy/api/graphql",
                new DefaultHttpHeaders().set("content-type", type).set("content-length", length), body,
                RequestContext.of("r-1", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }

    private final class Books implements GraphQlFunction {
        @Override
        public String schema() {
            return SCHEMA;
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of("Query.book", call -> Mono.just(new Book(
                    (String) call.arguments().getOrDefault("title", "none"), 12, null)),
                    "Query.fails", call -> Mono.error(HandlerException.of(Reason.UNAVAILABLE, "away")),
                    "Query.hangs", call -> Mono.never().doOnCancel(() -> events.add("hangs cancelled")),
                    "Query.late", call -> Mono.never(),
                    "Mutation.add", call -> {
                        String title = String
                                .valueOf(Objects.requireNonNull((Map<?, ?>) call.arguments().get("args"))
                                        .get("title"));
                        events.add("add " + title);
                        return Mono.just(Map.of("title", title));
                    },
                    "Mutation.stale",
                    call -> Mono.error(
                            HandlerException.of(Reason.CONFLICT, "the file is at revision 100% another")),
                    "Mutation.bug", call -> Mono.error(new IllegalStateException("the password is x")),
                    "Mutation.slow", call -> {
                        events.add("slow");
                        return slow.asMono();
                    });
        }
    }
}
