package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Every kind of HTTP/1.1 traffic through edge, tunnel and upstream, over real sockets. */
class TrafficIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int BIG = 16 << 20;

    @TempDir
    static Path folder;

    private static DisposableServer upstream;
    private static Platform platform;
    private static HttpClient caller;
    private static final Sinks.Many<String> EVENTS = Sinks.many().unicast().onBackpressureBuffer();

    @BeforeAll
    static void start() throws Exception {
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/hello",
                                (request, response) -> response
                                        .header("x-seen-host", request.requestHeaders().get("host"))
                                        .header("x-seen-for", request.requestHeaders().get("x-forwarded-for"))
                                        .sendString(Mono.just("hello")))
                        .get("/empty",
                                (request, response) -> response.status(HttpResponseStatus.NO_CONTENT).send())
                        .get("/chunked",
                                (request, response) -> response
                                        .sendString(Flux.just("one,", "two,", "three")))
                        .get("/download", (request, response) -> response.send(blocks(BIG)))
                        .post("/upload",
                                (request, response) -> response.sendString(checksum(request.receive())
                                        .map(String::valueOf)))
                        .post("/echo", (request, response) -> response.send(request.receive().retain()))
                        .post("/early",
                                (request, response) -> response.status(403).sendString(Mono.just("no")))
                        .get("/events", (request, response) -> response.sse()
                                .send(EVENTS.asFlux()
                                        .map(text -> Unpooled.copiedBuffer("data: " + text + "\n\n",
                                                StandardCharsets.UTF_8)),
                                        b -> true))
                        .ws("/ws",
                                (in, out) -> out.sendObject(in.receiveFrames().map(WebSocketFrame::retain))))
                .bindNow();
        platform = Platform.start(folder);
        platform.connect("acme", "prod", URI.create("http://127.0.0.1:" + upstream.port()));
        caller = platform.caller("acme", "prod", ConnectionProvider.create("callers", 8));
    }

    @AfterAll
    static void stop() {
        platform.close();
        upstream.disposeNow();
    }

    private static Flux<ByteBuf> blocks(int bytes) {
        return Flux.range(0, bytes / 65536).map(i -> {
            byte[] block = new byte[65536];
            new Random(i).nextBytes(block);
            return Unpooled.wrappedBuffer(block);
        });
    }

    private static Mono<Long> checksum(Flux<ByteBuf> body) {
        return body.reduceWith(CRC32::new, (crc, bytes) -> {
            crc.update(bytes.nioBuffer());
            return crc;
        }).map(CRC32::getValue);
    }

    private static String get(String path) {
        return Objects.requireNonNull(caller.get()
                .uri(path)
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .block(PATIENCE));
    }

    @Test
    void aGetSeesTheCallersHostAndAddress() {
        var headers = Objects.requireNonNull(
                caller.get()
                        .uri("/hello")
                        .response()
                        .map(response -> response.responseHeaders())
                        .block(PATIENCE));

        assertThat(headers.get("x-seen-host")).isEqualTo("acme-prod." + Platform.DOMAIN);
        assertThat(headers.get("x-seen-for")).isEqualTo("127.0.0.1");
    }

    @Test
    void bodiesOfEveryFramingArrive() {
        assertThat(get("/hello")).isEqualTo("200 hello");
        assertThat(get("/empty")).isEqualTo("204 ");
        assertThat(get("/chunked")).isEqualTo("200 one,two,three");
        assertThat(get("/none")).startsWith("404");
    }

    @Test
    void aLargeDownloadArrivesWhole() {
        Long expected = checksum(blocks(BIG)).block(PATIENCE);

        assertThat(checksum(caller.get().uri("/download").responseContent()).block(PATIENCE))
                .isEqualTo(expected);
    }

    @Test
    void aLargeUploadArrivesWhole() {
        String expected = String.valueOf(checksum(blocks(BIG)).block(PATIENCE));

        assertThat(caller.post()
                .uri("/upload")
                .send(blocks(BIG))
                .responseContent()
                .aggregate()
                .asString()
                .block(PATIENCE)).isEqualTo(expected);
    }

    @Test
    void bothBodiesFlowAtOnce() {
        Long expected = checksum(blocks(BIG / 4)).block(PATIENCE);

        assertThat(
                checksum(caller.post().uri("/echo").send(blocks(BIG / 4)).responseContent()).block(PATIENCE))
                .isEqualTo(expected);
    }

    @Test
    void anAnswerBeforeTheBodyEndsReachesTheCaller() {
        assertThat(caller.post()
                .uri("/early")
                .send(blocks(1 << 18))
                .responseSingle((head, body) -> body.asString().map(text -> head.status().code() + text))
                .block(PATIENCE)).isEqualTo("403no");
        assertThat(get("/hello")).isEqualTo("200 hello");
    }

    @Test
    void anEventIsSeenBeforeTheNextIsSent() {
        List<String> seen = new ArrayList<>();

        EVENTS.tryEmitNext("first");
        String all = caller.get().uri("/events").responseContent().asString().doOnNext(event -> {
            seen.add(event);
            if (seen.size() == 1) {
                EVENTS.tryEmitNext("second");
                EVENTS.tryEmitComplete();
            }
        }).collectList().map(events -> String.join("", events)).block(PATIENCE);

        assertThat(seen.getFirst()).isEqualTo("data: first\n\n");
        assertThat(all).isEqualTo("data: first\n\ndata: second\n\n");
    }

    @Test
    void aWebSocketEchoesTextAndBinary() {
        List<String> echoed = new ArrayList<>();

        caller.websocket()
                .uri("/ws")
                .handle((in, out) -> out
                        .sendObject(Flux.just(new TextWebSocketFrame("grüße"),
                                new BinaryWebSocketFrame(Unpooled.wrappedBuffer(new byte[]{1, 2, 3}))))
                        .then(in.receiveFrames()
                                .take(2)
                                .doOnNext(frame -> echoed.add(frame instanceof TextWebSocketFrame text
                                        ? text.text()
                                        : "binary " + frame.content().readableBytes()))
                                .then()))
                .blockLast(PATIENCE);

        assertThat(echoed).containsExactly("grüße", "binary 3");
    }
}
