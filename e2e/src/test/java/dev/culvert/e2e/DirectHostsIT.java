package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static reactor.core.publisher.Sinks.EmitResult.FAIL_OVERFLOW;
import static reactor.core.publisher.Sinks.EmitResult.FAIL_ZERO_SUBSCRIBER;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.config.ByteSize;
import dev.culvert.server.ServerConfig;
import io.grpc.ManagedChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Hosts of the edge that lead to an upstream in place of a tunnel, beside a runtime with a tunnel. */
class DirectHostsIT {
    /** 1 GiB once for each release: {@code -Dculvert.direct.bytes=1GiB}. */
    private static final long BYTES = ByteSize.parse(System.getProperty("culvert.direct.bytes", "64MiB"))
            .bytes();
    private static final int BLOCK = 64 << 10;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String GONE = "\"type\":\"urn:culvert:problem:upstream-refused\"";

    @TempDir
    static Path folder;

    private static HostedService service;
    private static HostedService secure;
    private static HostedService stoppable;
    private static StreamingEcho bytes;
    private static GrpcEcho grpc;
    private static Platform platform;
    private static final ConnectionProvider CONNECTIONS = ConnectionProvider.create("callers", 64);

    @BeforeAll
    static void start() throws Exception {
        service = new HostedService(null);
        stoppable = new HostedService(null);
        platform = Platform.start(folder, DirectHostsIT::withPlatform);
        secure = new HostedService(folder);
        bytes = new StreamingEcho();
        grpc = new GrpcEcho("hosted");
        host("web", service.uri(), null);
        host("tls", secure.uri(), Files.readString(folder.resolve("ca.crt")));
        host("distrusted", secure.uri(), null);
        host("stoppable", stoppable.uri(), null);
        host("raw", bytes.uri(), null);
        host("grpc", grpc.uri("http"), null);
        host("limited", service.uri(), null);
        host("closed", service.uri(), null);
        platform.connect("acme", "prod", service.uri());
    }

    @AfterAll
    static void stop() throws IOException {
        CONNECTIONS.dispose();
        platform.close();
        service.close();
        stoppable.close();
        secure.close();
        bytes.close();
        grpc.close();
    }

    /** The platform's host leads to the service that is stopped and started again. */
    private static ServerConfig withPlatform(ServerConfig usual) {
        try {
            Path rules = Files.writeString(folder.resolve("rules.json"),
                    "{\"rules\":[{\"path\":\"/closed\",\"require\":\"deny\"},{\"path\":\"/\",\"require\":\"none\"}]}");
            var platformHost = new ServerConfig.Platform("platform." + Platform.DOMAIN, stoppable.uri(), null,
                    rules,
                    new ServerConfig.PlatformLimits(1000, 0, 0, new ByteSize(2L * BLOCK), new ByteSize(0)));
            return new ServerConfig(usual.edge().with(platformHost), usual.tcp(), usual.tunnel(),
                    usual.admin(), usual.dataDir(), usual.store(), usual.inbox(), usual.tls());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void host(String name, URI upstream, @Nullable String ca) {
        ObjectNode wanted = new JsonMapper().createObjectNode()
                .put("account", "acme")
                .put("name", name)
                .put("upstream", upstream.toString())
                .put("ca", ca);
        assertThat(platform.admin(HttpMethod.POST, "/api/v1/runtimes", wanted.toString()))
                .contains("\"upstream\":\"" + upstream + "\"");
    }

    private static HttpClient http1(String host) {
        return platform.caller("acme", "web", CONNECTIONS)
                .headers(fields -> fields.set("host", host + "." + Platform.DOMAIN));
    }

    private static HttpClient http2(String host) {
        return platform.http2Caller("acme", "web", CONNECTIONS)
                .headers(fields -> fields.set("host", host + "." + Platform.DOMAIN));
    }

    private static String get(HttpClient caller, String path) {
        return Objects.requireNonNull(caller.get()
                .uri(path)
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .block(PATIENCE));
    }

    private static Flux<ByteBuf> body(long length) {
        return Flux.range(0, (int) (length / BLOCK)).map(i -> {
            byte[] block = new byte[BLOCK];
            new Random(i).nextBytes(block);
            return Unpooled.wrappedBuffer(block);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"acme-web", "acme-tls", "platform"})
    void requestsOfBothVersionsArriveAsTheyWereSent(String host) {
        for (HttpClient caller : List.of(http1(host), http2(host))) {
            assertThat(get(caller, "/head//a%2Fb?q=1&q=%20")).startsWith("200 GET /head//a%2Fb?q=1&q=%20\n")
                    .containsIgnoringCase("\nhost: " + host + "." + Platform.DOMAIN + "\n")
                    .containsIgnoringCase("\nx-forwarded-for: 127.0.0.1\n");
            assertThat(get(caller, "/nothing")).isEqualTo("404 ");
            assertThat(get(caller, "/moved")).isEqualTo("302 ");
        }
    }

    @Test
    void anUploadArrivesByteForByteInBothVersions() {
        String sent = Objects.requireNonNull(HostedService.hash(body(BYTES)).block(PATIENCE));
        for (HttpClient caller : List.of(http1("acme-web"), http2("acme-web"))) {
            String received = caller.post()
                    .uri("/upload")
                    .send(ByteBufFlux.fromInbound(body(BYTES)))
                    .responseSingle((head, text) -> text.asString())
                    .block(Duration.ofMinutes(10));

            assertThat(received).isEqualTo(sent);
        }
        await().until(() -> platform.server.bufferedBytes() == 0);
    }

    @Test
    void eventsArriveOneByOne() {
        for (HttpClient caller : List.of(http1("acme-web"), http2("acme-web"))) {
            List<String> seen = Objects.requireNonNull(caller.get()
                    .uri("/events")
                    .responseContent()
                    .asString()
                    .publishOn(Schedulers.boundedElastic())
                    .doOnNext(text -> {
                        if (text.contains("first")) {
                            // Only now, and not before the service listens.
                            service.events.emitNext("second",
                                    (signal, result) -> result == FAIL_ZERO_SUBSCRIBER
                                            || result == FAIL_OVERFLOW);
                        }
                    })
                    .take(2)
                    .collectList()
                    .block(PATIENCE));

            assertThat(seen).containsExactly("data: first\n\n", "data: second\n\n");
        }
    }

    @Test
    void webSocketsWorkInBothVersions() throws Exception {
        String echoed = http1("acme-web").websocket()
                .uri("/ws")
                .handle((in, out) -> out.sendObject(Mono.just(new TextWebSocketFrame("Grüße")))
                        .then()
                        .thenMany(in.receive().asString().take(1)))
                .blockFirst(PATIENCE);
        assertThat(echoed).isEqualTo("Grüße");

        try (var caller = new Http2Caller(platform.server.edgeAddress().port());
                var stream = caller.webSocket("acme-raw." + Platform.DOMAIN, "/bytes")) {
            stream.send(new byte[]{1, 2, 3});
            assertThat(stream.status()).isEqualTo("200");
            assertThat(new DataInputStream(stream.in()).readNBytes(3)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void grpcCallsWork() throws Exception {
        ManagedChannel channel = GrpcIT.channel(platform, "acme-grpc");
        try {
            assertThat(GrpcIT.unary(channel, "")).isEqualTo("hosted");
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void noCallerSaysWhoItIs() throws Exception {
        String raw = RawCaller.exchange(platform, """
                POST /head HTTP/1.1\r
                Host: acme-web.%s\r
                X-Authenticated-Entity-Json: {"id":"root"}\r
                x_authenticated_entity_json: {"id":"root"}\r
                X-AUTHENTICATED_Entity.Json: {"id":"root"}\r
                X-Authenticated-User: root\r
                X-Request-Id: kept-1\r
                X-Access-Token: kept-2\r
                Transfer-Encoding: chunked\r
                Connection: close\r
                \r
                1\r
                a\r
                0\r
                X-Authenticated-Entity-Json: {"id":"root"}\r
                \r
                """.formatted(Platform.DOMAIN));
        String other = get(http2("acme-tls").headers(fields -> fields
                .add("x_Authenticated-entity_json", "root")
                .add("x-request-id", "kept-1")
                .add("x-access-token", "kept-2")), "/head");

        for (String seen : List.of(raw, other)) {
            assertThat(seen).contains("200").contains("kept-1").contains("kept-2").doesNotContain("root");
            assertThat(seen.toLowerCase(Locale.ROOT)).doesNotContain("authenticated");
        }
        // A runtime with a tunnel is no part of the platform.
        assertThat(get(http1("acme-prod").headers(fields -> fields.add("x-authenticated-user", "mine")),
                "/head")).contains("mine");
    }

    @Test
    void aNameOfTheCallersLeadsNowhere() throws Exception {
        for (String name : List.of("169.254.169.254", "localhost", "127.0.0.1:9090")) {
            assertThat(RawCaller.exchange(platform, "GET http://" + name + "/latest HTTP/1.1\r\nHost: " + name
                    + "\r\nConnection: close\r\n\r\n")).startsWith("HTTP/1.1 404 ").contains("unknown-host");
        }
        assertThat(RawCaller.exchange(platform,
                "GET http://169.254.169.254/ HTTP/1.1\r\nHost: acme-web." + Platform.DOMAIN
                        + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    @Test
    void anUntrustedUpstreamIsNotAsked() {
        assertThat(get(http1("acme-distrusted"), "/head")).startsWith("502 ")
                .contains("upstream-tls")
                .contains("\"hop\":\"upstream\"");
    }

    @Test
    void limitsAndAccessRulesAreItsOwn() throws Exception {
        String limits = "/api/v1/runtimes/acme/limited/limits";
        platform.admin(HttpMethod.PUT, limits, "{\"maxBodyBytes\":1024,\"maxStreams\":1}");
        String tooLong = http1("acme-limited").post()
                .uri("/upload")
                .send(ByteBufFlux.fromInbound(body(BLOCK)))
                .responseSingle((head, text) -> Mono.just(head.status().toString()))
                .block(PATIENCE);
        assertThat(tooLong).startsWith("413 ");

        AtomicBoolean holding = new AtomicBoolean();
        Disposable stream = http1("acme-limited").get()
                .uri("/events")
                .responseContent()
                .asString()
                .doOnNext(any -> holding.set(true))
                .subscribe();
        await().untilTrue(holding);
        assertThat(get(http1("acme-limited"), "/api/ping")).startsWith("503 ")
                .contains("overloaded")
                .contains("\"hop\":\"edge\"");
        stream.dispose();
        await().untilAsserted(
                () -> assertThat(get(http1("acme-limited"), "/api/ping")).isEqualTo("200 ok"));
        platform.admin(HttpMethod.PUT, limits, "{\"requestsPerSecond\":1,\"requestBurst\":1}");
        await().untilAsserted(
                () -> assertThat(get(http1("acme-limited"), "/api/ping")).startsWith("429 "));
        assertThat(platform.admin(HttpMethod.GET, "/api/v1/runtimes/acme/limited/usage", ""))
                .contains("\"streams\":")
                .contains("\"body\":1,");

        platform.access("acme", "closed",
                "{\"rules\":[{\"path\":\"/api/ping\",\"require\":\"none\"},{\"path\":\"/\",\"require\":\"deny\"}]}");
        assertThat(get(http1("acme-closed"), "/api/ping")).isEqualTo("200 ok");
        assertThat(get(http2("acme-closed"), "/head")).startsWith("403 ").contains("not-allowed");
    }

    @Test
    void requestsAreLoggedAndMeasured() {
        try (var log = new LogLines(Level.INFO)) {
            assertThat(get(http1("acme-web"), "/api/ping")).isEqualTo("200 ok");

            await().untilAsserted(() -> assertThat(log.all())
                    .anySatisfy(line -> assertThat(line).contains("runtime=\"acme/web\"")
                            .contains("path=\"/api/ping\"")
                            .contains("status=\"200\"")));
        }
        assertThat(platform.metrics()).containsPattern(
                "culvert_edge_requests_seconds_count\\{hop=\"upstream\",runtime=\"acme/web\",status_class=\"2xx\"} [1-9]")
                .containsPattern(
                        "culvert_runtime_bytes_total\\{direction=\"out\",runtime=\"acme/web\"} [1-9]");
    }

    @Test
    void anUpstreamThatComesBackIsServedAndOthersNeverNotice() {
        assertThat(get(http1("acme-stoppable"), "/api/ping")).isEqualTo("200 ok");
        stoppable.stop();
        AtomicInteger asked = new AtomicInteger();
        // A request that finds its connection closed under it may be told so instead.
        await().untilAsserted(() -> assertThat(get(http1("acme-stoppable"), "/api/ping")).contains(GONE));

        for (int i = 0; i < 20; i++) {
            for (HttpClient caller : List.of(http1("acme-stoppable"), http2("acme-stoppable"),
                    http1("platform"), http2("platform"))) {
                assertThat(get(caller, "/api/ping")).startsWith("502 ")
                        .contains(GONE)
                        .contains("\"hop\":\"upstream\"")
                        .doesNotContain("127.0.7.9");
            }
            for (String other : List.of("acme-web", "acme-prod")) {
                assertThat(get(http1(other), "/api/ping")).isEqualTo("200 ok");
                asked.incrementAndGet();
            }
        }
        stoppable.startAgain();

        for (String host : List.of("acme-stoppable", "platform")) {
            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(() -> assertThat(get(http1(host), "/api/ping")).isEqualTo("200 ok"));
        }
        assertThat(get(http2("acme-stoppable"), "/api/ping")).isEqualTo("200 ok");
        assertThat(asked).hasValue(40);
    }

    @Test
    void thePlatformsHostHasLimitsRulesAndALabelOfItsOwn() {
        platform.admin(HttpMethod.PUT, "/api/v1/limits", "{\"maxBodyBytes\":1024}");
        String whole = Objects.requireNonNull(HostedService.hash(body(2L * BLOCK)).block(PATIENCE));
        assertThat(upload("platform", 2L * BLOCK)).isEqualTo("200 " + whole);
        platform.admin(HttpMethod.PUT, "/api/v1/limits", "{}");
        assertThat(upload("platform", 4L * BLOCK)).startsWith("413 ");
        assertThat(get(http2("platform"), "/closed/x")).startsWith("403 ");

        assertThat(platform.admin(HttpMethod.GET, "/api/v1/runtimes", "")).doesNotContain("platform");
        await().untilAsserted(() -> assertThat(platform.metrics()).containsPattern(
                "culvert_edge_requests_seconds_count\\{hop=\"upstream\",runtime=\"platform\",status_class=\"2xx\"} [1-9]"));
    }

    private static String upload(String host, long length) {
        return Objects.requireNonNull(http1(host).post()
                .uri("/upload")
                .send(ByteBufFlux.fromInbound(body(length)))
                .responseSingle((head, text) -> text.asString()
                        .defaultIfEmpty("")
                        .map(answer -> head.status().code() + " " + answer))
                .block(PATIENCE));
    }

    @Test
    void noRuntimeGetsThePlatformsHost() {
        String host = "platform." + Platform.DOMAIN;
        for (String upstream : List.of("", ",\"upstream\":\"http://127.0.0.1:1\"")) {
            assertThat(platform.admin(HttpMethod.POST, "/api/v1/runtimes",
                    "{\"account\":\"acme\",\"name\":\"thief\",\"hosts\":[\"" + host + "\"]" + upstream + "}"))
                    .contains("\"status\":409")
                    .contains("the host " + host + " is the platform's (edge.platform.host)");
        }
        assertThat(platform.admin(HttpMethod.PATCH, "/api/v1/runtimes/acme/web",
                "{\"hosts\":[\"" + host.toUpperCase(Locale.ROOT) + ".\"]}")).contains("\"status\":409");
        assertThat(platform.runtime("acme", "thief")).contains("\"status\":404");
    }

    @Test
    void anotherUpstreamHoldsFromTheNextRequestOn() {
        host("moving", URI.create("http://127.0.7.9:1"), null);
        assertThat(get(http1("acme-moving"), "/api/ping")).startsWith("502 ");

        platform.admin(HttpMethod.PATCH, "/api/v1/runtimes/acme/moving",
                "{\"upstream\":\"" + service.uri() + "\"}");
        assertThat(get(http1("acme-moving"), "/api/ping")).isEqualTo("200 ok");

        platform.deleteRuntime("acme", "moving");
        assertThat(get(http1("acme-moving"), "/api/ping")).startsWith("404 ");
    }
}
