package dev.culvert.e2e;

import static dev.culvert.e2e.WebSocketBytes.BINARY;
import static dev.culvert.e2e.WebSocketBytes.BINARY_BEGINS;
import static dev.culvert.e2e.WebSocketBytes.DEFLATED;
import static dev.culvert.e2e.WebSocketBytes.ENDS;
import static dev.culvert.e2e.WebSocketBytes.GOES_ON;
import static dev.culvert.e2e.WebSocketBytes.TEXT;
import static dev.culvert.e2e.WebSocketBytes.close;
import static dev.culvert.e2e.WebSocketBytes.frame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.WebsocketClientSpec;

/** WebSockets through edge, tunnel and router to a correct server, byte for byte as without them. */
class WebSocketCasesIT {
    private static final String DEFLATE = "permessage-deflate; client_no_context_takeover";
    private static final int MIB = 1 << 20;
    private static final int STEP = 64 << 10;

    @TempDir
    static Path folder;

    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static Platform platform;
    private static EchoServer echo;
    private static EchoServer deflating;
    private static StreamingEcho streaming;
    private static TunnelClient client;
    private static Http2Caller http2;

    @BeforeAll
    static void start() throws Exception {
        echo = new EchoServer(false);
        deflating = new EchoServer(true);
        streaming = new StreamingEcho();
        platform = Platform.start(folder);
        platform.connect("acme", "echo", echo.uri());
        platform.connect("acme", "deflate", deflating.uri());
        client = platform.connect("acme", "stream", streaming.uri());
        http2 = new Http2Caller(port());
    }

    @AfterAll
    static void stop() throws IOException {
        http2.close();
        platform.close();
        echo.close();
        deflating.close();
        streaming.close();
        THREADS.shutdownNow();
    }

    /** What one test leaves under way on a connection is no other's. */
    private static void connectAnew() throws Exception {
        http2.close();
        http2 = new Http2Caller(port());
    }

    private static int port() {
        return platform.server.edgeAddress().port();
    }

    private static String host(String runtime) {
        return "acme-" + runtime + "." + Platform.DOMAIN;
    }

    /** How a caller reaches a runtime. */
    enum Way {
        HTTP_1 {
            @Override
            Wire to(String runtime, String path) throws Exception {
                return Wire.secure(port(), host(runtime), path);
            }
        },
        HTTP_2 {
            @Override
            Wire to(String runtime, String path) throws Exception {
                return http2.webSocket(host(runtime), path);
            }
        };

        abstract Wire to(String runtime, String path) throws Exception;
    }

    static List<WebSocketCase> cases() {
        return WebSocketCase.all();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void endsAsWithoutTheTunnel(WebSocketCase given) throws Exception {
        byte[] direct = run(Wire.plain(echo.port(), "localhost", "/"), given);

        assertThat(WebSocketBytes.closeCode(direct)).isEqualTo(given.code());
        for (Way way : Way.values()) {
            assertThat(run(way.to("echo", "/"), given)).as(way.name()).isEqualTo(direct);
        }
    }

    private static byte[] run(Wire wire, WebSocketCase given) throws IOException {
        try (wire) {
            for (byte[] bytes : given.writes()) {
                wire.send(bytes);
            }
            return wire.readAll();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theBytesOfAllCasesCrossUntouched(Way way) throws Exception {
        connectAnew();
        var all = new ByteArrayOutputStream();
        cases().forEach(given -> all.writeBytes(given.bytes()));
        byte[] sent = all.toByteArray();

        try (Wire wire = way.to("stream", "/bytes")) {
            Future<?> writing = inBackground(() -> {
                for (int i = 0; i < sent.length; i += 10_007) {
                    wire.send(Arrays.copyOfRange(sent, i, Math.min(sent.length, i + 10_007)));
                }
                return null;
            });
            assertThat(wire.in().readNBytes(sent.length)).isEqualTo(sent);
            writing.get(Wire.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1, 1, 1", "HTTP_1, 64, 1", "HTTP_1, 16, 256", "HTTP_2, 16, 1", "HTTP_2, 64, 1024"})
    void aLargeMessageIsNotBuffered(Way way, int mebibytes, int frames) throws Exception {
        connectAnew();
        try (Wire wire = way.to("stream", "/frames")) {
            byte[] block = new byte[STEP];
            new Random(mebibytes).nextBytes(block);
            long frame = (long) mebibytes * MIB / frames;
            Future<?> writing = inBackground(() -> write(wire, block, frame, frames));
            Future<?> reading = inBackground(() -> read(wire, block, frame, frames));
            long most = 0;
            while (!isDoneWithin(reading, 1)) {
                most = Math.max(most, platform.server.bufferedBytes() + client.bufferedBytes());
            }

            reading.get();
            writing.get(Wire.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(most).isLessThan(2 * MIB);
        }
    }

    private static Void write(Wire wire, byte[] block, long frame, int frames) throws IOException {
        byte[] key = WebSocketBytes.key();
        byte[] masked = block.clone();
        for (int i = 0; i < masked.length; i++) {
            masked[i] ^= key[i & 3];
        }
        for (int i = 0; i < frames; i++) {
            var header = new ByteArrayOutputStream();
            header.writeBytes(WebSocketBytes.header(first(i, frames), frame, true));
            header.writeBytes(key);
            wire.send(header.toByteArray());
            for (long sent = 0; sent < frame; sent += STEP) {
                wire.send(masked);
            }
        }
        wire.send(close(1000, ""));
        return null;
    }

    private static Void read(Wire wire, byte[] block, long frame, int frames) throws IOException {
        for (int i = 0; i < frames; i++) {
            byte[] header = WebSocketBytes.header(first(i, frames), frame, false);
            assertThat(wire.in().readNBytes(header.length)).isEqualTo(header);
            for (long read = 0; read < frame; read += STEP) {
                assertThat(Arrays.equals(wire.in().readNBytes(STEP), block)).isTrue();
            }
        }
        assertThat(WebSocketBytes.closeCode(wire.readAll())).isEqualTo(1000);
        return null;
    }

    private static int first(int frame, int frames) {
        if (frames == 1) {
            return BINARY;
        }
        return frame == 0 ? BINARY_BEGINS : frame == frames - 1 ? ENDS : GOES_ON;
    }

    private static boolean isDoneWithin(Future<?> work, int millis) throws InterruptedException {
        try {
            work.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true;
        }
    }

    private static <T> Future<T> inBackground(Callable<T> work) {
        return THREADS.submit(work);
    }

    @ParameterizedTest
    @EnumSource
    void aCallerThatReadsNothingIsSentNoMoreThanTheWindows(Way way) throws Exception {
        connectAnew();
        AtomicLong sent = new AtomicLong();
        try (Wire wire = way.to("stream", "/bytes")) {
            Future<?> writing = inBackground(() -> {
                byte[] block = new byte[STEP];
                while (sent.get() < 256 * MIB) {
                    wire.send(block);
                    sent.addAndGet(STEP);
                }
                return null;
            });
            AtomicLong before = new AtomicLong();
            await().atMost(Duration.ofSeconds(20))
                    .during(Duration.ofMillis(700))
                    .until(() -> sent.get() > 0 && before.getAndSet(sent.get()) == sent.get());

            assertThat(sent.get()).isPositive().isLessThan(64 * MIB);
            assertThat(platform.server.bufferedBytes() + client.bufferedBytes()).isLessThan(2 * MIB);
            assertThat(writing.isDone()).isFalse();
            wire.cut();
        }
    }

    // ---- permessage-deflate ----

    @Test
    void anOfferOfDeflateAndItsAnswerPass() throws Exception {
        byte[][] messages = {deflated("Hello"), deflated(""), deflated("a".repeat(100_000)),
                frame(TEXT, "plain"),
                close(1000, "")};
        WebSocketCase given = new WebSocketCase("deflated", List.of(messages), 1000);

        Wire plain = Wire.plain(deflating.port(), "localhost", "/", "Sec-WebSocket-Extensions: " + DEFLATE);
        Wire first = Wire.secure(port(), host("deflate"), "/", "Sec-WebSocket-Extensions: " + DEFLATE);
        Wire second = http2.webSocket(host("deflate"), "/", "sec-websocket-extensions", DEFLATE);

        assertThat(extensions(plain)).startsWith("permessage-deflate");
        assertThat(extensions(first)).isEqualTo(extensions(plain));
        assertThat(extensions(second)).isEqualTo(extensions(plain));
        byte[] direct = run(plain, given);
        assertThat(direct[0] & 0xff).isEqualTo(TEXT | DEFLATED);
        assertThat(direct.length).isLessThan(2000);
        assertThat(WebSocketBytes.closeCode(direct)).isEqualTo(1000);
        assertThat(run(first, given)).isEqualTo(direct);
        assertThat(run(second, given)).isEqualTo(direct);
    }

    @Test
    void anOfferThatTheUpstreamDoesNotTakeIsNotTaken() throws Exception {
        try (Wire wire = Wire.secure(port(), host("echo"), "/", "Sec-WebSocket-Extensions: " + DEFLATE)) {
            assertThat(extensions(wire)).isEmpty();
        }
    }

    @Test
    void aClientThatDeflatesIsEchoed() {
        String text = "many words, ".repeat(50_000);

        List<String> heard = new ArrayList<>();
        platform.caller("acme", "deflate")
                .websocket(WebsocketClientSpec.builder().compress(true).maxFramePayloadLength(MIB).build())
                .uri("/")
                .handle((in, out) -> {
                    assertThat(in.headers().get("sec-websocket-extensions"))
                            .startsWith("permessage-deflate");
                    return out.sendObject(Mono.just(new TextWebSocketFrame(text)))
                            .then(in.aggregateFrames(MIB)
                                    .receive()
                                    .asString()
                                    .take(1)
                                    .doOnNext(heard::add)
                                    .then());
                })
                .blockLast(Duration.ofSeconds(20));

        assertThat(heard).containsExactly(text);
    }

    private static String extensions(Wire wire) {
        return wire.head()
                .lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("sec-websocket-extensions:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("");
    }

    /** RFC 7692 §7.2.1: without the last four octets of the flush. */
    private static byte[] deflated(String text) {
        try (Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true)) {
            deflater.setInput(text.getBytes(StandardCharsets.UTF_8));
            byte[] block = new byte[text.length() + 100];
            int length = deflater.deflate(block, 0, block.length, Deflater.SYNC_FLUSH);
            return frame(TEXT | DEFLATED, text.isEmpty() ? new byte[1] : Arrays.copyOf(block, length - 4));
        }
    }
}
