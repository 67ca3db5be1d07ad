package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.TlsCaller;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A service that decides about each request, over real sockets. */
class ForwardAuthIT {
    private final EdgeFixture edge = new EdgeFixture();
    private final AccessControl access = new AccessControl(AccessDefault.OPEN, List.of(), edge.loops,
            Clock.systemUTC());
    private final BlockingQueue<HttpHeaders> asked = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> left = new CompletableFuture<>();
    private volatile Answer answer = response -> response.status(204).send();
    private final DisposableServer service = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle(this::serve)
            .bindNow();

    private interface Answer {
        Publisher<Void> send(HttpServerResponse response);
    }

    private Publisher<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        request.withConnection(connection -> connection.onDispose(() -> left.complete(null)));
        asked.add(request.requestHeaders().copy());
        return answer.send(response);
    }

    @BeforeEach
    void protect() {
        protect(service.port(), Duration.ofSeconds(5));
    }

    private void protect(int port, Duration timeout) {
        edge.admission = access.of("id-1", new AccessRules(List.of(), List.of(new AccessRule("/",
                new Requirement.ForwardAuth(URI.create("http://127.0.0.1:" + port + "/verify?x=y"), timeout,
                        List.of("cookie"), List.of("x-user", "authorization")),
                List.of()))));
    }

    @AfterEach
    void close() {
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        await().untilAsserted(() -> assertThat(edge.active()).isZero());
        access.close().block();
        service.disposeNow();
        edge.close();
    }

    private HttpHeaders asked() throws InterruptedException {
        HttpHeaders fields = asked.poll(10, TimeUnit.SECONDS);
        assertThat(fields).isNotNull();
        return fields;
    }

    @Test
    void whomTheServiceLetsPassGoesOnWithItsFieldsInPlaceOfTheirOwn() throws Exception {
        answer = response -> response.status(200).header("X-User", "ann").sendString(Mono.just("ok"));
        edge.relay.answer(exchange -> exchange.head("204", true));
        try (TlsCaller caller = edge.caller()) {
            caller.head("DELETE /a%20b?c=d", "Cookie: s=1", "X-User: root", "X_User: root",
                    "Authorization: Basic x",
                    "X-Secret: y");

            assertThat(caller.readHead()).startsWith("HTTP/1.1 204 ");
        }
        HttpHeaders question = asked();
        assertThat(question.get("x-forwarded-method")).isEqualTo("DELETE");
        assertThat(question.get("x-forwarded-uri")).isEqualTo("/a%20b?c=d");
        assertThat(question.get("x-forwarded-host")).isEqualTo("acme.example");
        assertThat(question.get("x-forwarded-proto")).isEqualTo("https");
        assertThat(question.get("x-forwarded-for")).isEqualTo("127.0.0.1");
        assertThat(question.get("cookie")).isEqualTo("s=1");
        assertThat(question.contains("x-secret")).isFalse();
        Http2Headers fields = edge.relay.next().request.fields();
        assertThat(fields.getAll("x-user")).singleElement().hasToString("ann");
        assertThat(fields.contains("x_user")).isFalse();
        assertThat(fields.contains("authorization")).as("the service sets it, or nobody").isFalse();
        assertThat(fields.get("x-secret")).hasToString("y");
    }

    @Test
    void whatTheServiceAnswersOtherwiseIsTheCallersAnswer() {
        answer = response -> response.status(302).header("Location", "https://login.example/").send();
        try (TlsCaller caller = edge.caller()) {
            assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 302 ")
                    .contains("Location: https://login.example/", "Content-Length: 0");
            answer = response -> response.status(401)
                    .header("WWW-Authenticate", "Custom")
                    .sendString(Mono.just("who are you?"));
            assertThat(caller.get("/x").readUntil("who are you?")).startsWith("HTTP/1.1 401 ")
                    .contains("WWW-Authenticate: Custom");
            assertThat(caller.head("HEAD /x").readHead()).startsWith("HTTP/1.1 401 ");
            assertThat(caller.get("/x").readUntil("who are you?")).startsWith("HTTP/1.1 401 ");
        }
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void withoutAnAnswerNobodyPasses() {
        try (TlsCaller caller = edge.caller()) {
            answer = response -> response.status(500).send();
            assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 503 ").contains("Retry-After: 5");
            caller.readUntil("}");
            answer = response -> response.status(401).sendByteArray(Mono.just(new byte[70_000]));
            assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 503 ");
            caller.readUntil("}");
            protect(service.port(), Duration.ofMillis(100));
            answer = response -> Mono.never();
            assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 503 ");
            caller.readUntil("}");
            protect(1, Duration.ofSeconds(5));
            assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 503 ");
        }
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aCallerThatLeavesTakesItsQuestionAlong() throws Exception {
        answer = response -> Mono.never();
        try (TlsCaller caller = edge.caller()) {
            caller.get("/x");
            asked();
        }

        left.get(10, TimeUnit.SECONDS);
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aBodyIsHeldBackUntilTheServiceHasDecided() throws Exception {
        int length = 8 << 20;
        Sinks.Empty<Void> go = Sinks.empty();
        answer = response -> go.asMono().then(response.status(204).send());
        try (TlsCaller caller = edge.caller()) {
            caller.head("POST /x", "Content-Length: " + length);
            var sending = CompletableFuture.runAsync(() -> caller.send(new byte[length]));
            asked();
            await().until(() -> edge.quotas.memory().used() > 0);
            await().during(Duration.ofMillis(300))
                    .until(() -> edge.quotas.memory().used() < 1 << 20 && !sending.isDone());
            assertThat(edge.relay.all).isEmpty();

            go.tryEmitEmpty();

            FakeRelay.Exchange exchange = edge.relay.next();
            exchange.awaitEnd();
            sending.join();
            assertThat(exchange.receivedBytes).hasValue(length);
            exchange.head("204", true);
            assertThat(caller.readHead()).startsWith("HTTP/1.1 204 ");
        }
    }

    @Test
    void upgradesAreDecidedAboutToo() throws Exception {
        String[] upgrade = {"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: x"};
        answer = response -> response.status(403).send();
        try (TlsCaller caller = edge.caller()) {
            assertThat(caller.head("GET /ws", upgrade).readHead()).startsWith("HTTP/1.1 403 ");
        }
        answer = response -> response.status(204).send();
        try (TlsCaller caller = edge.caller()) {
            caller.head("GET /ws", upgrade);
            FakeRelay.Exchange exchange = edge.relay.next();
            exchange.head("101", false, "sec-websocket-accept", "y");
            assertThat(caller.readHead()).startsWith("HTTP/1.1 101 ");
            exchange.body("pong");
            assertThat(caller.readUntil("pong")).isEqualTo("pong");
            exchange.end();
        }
    }

    @Test
    void streamsOfOneConnectionAreDecidedAboutOneByOne() throws Exception {
        Sinks.Empty<Void> go = Sinks.empty();
        answer = response -> asked.size() == 1
                ? go.asMono().then(response.status(204).send())
                : response.status(204).send();
        edge.relay.answer(exchange -> exchange.head("204", true));
        try (FrameCaller caller = edge.http2()) {
            caller.get(1, "/slow");
            await().until(() -> asked.size() == 1);
            caller.get(3, "/fast");

            assertThat(caller.head(3).status()).hasToString("204");
            go.tryEmitEmpty();
            assertThat(caller.head(1).status()).hasToString("204");
        }
    }

    @Test
    void onlySoManyWaitForAService() throws Exception {
        answer = response -> Mono.never();
        try (FrameCaller one = edge.http2(); FrameCaller two = edge.http2(); TlsCaller late = edge.caller()) {
            for (int i = 0; i < 100; i++) {
                one.get(2 * i + 1, "/x");
                two.get(2 * i + 1, "/x");
            }
            await().until(() -> edge.active() == 200);

            assertThat(late.get("/x").readHead()).startsWith("HTTP/1.1 503 ");
            await().until(() -> asked.size() == 200);
            try (TlsCaller other = TlsCaller.from("127.0.0.2", edge.listener.address().port())) {
                other.get("/x");
                await().until(() -> asked.size() == 201); // the address with most has given way
                await().until(() -> edge.active() == 200);
            }
        }
    }
}
