package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies on their way through edge, tunnel and router: nothing waits for more, and the slowest reader stops the writer. */
class StreamingIT {
    private static final String HOST = "acme-prod." + Platform.DOMAIN;
    private static final int MIB = 1 << 20;
    private static final int STEP = 64 << 10;
    /** Sockets' buffers and windows of all hops, with much to spare. */
    private static final long UNDER_WAY = 64 * MIB;

    @TempDir
    static Path folder;

    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static Platform platform;
    private static TunnelClient client;
    private static Http2Caller http2;
    private static PacedUpstream upstream;

    @BeforeAll
    static void start() throws Exception {
        upstream = new PacedUpstream();
        platform = Platform.start(folder);
        client = platform
                .connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                        new RoutingConfig(List.of(RouteConfig.of("/", upstream.uri().toString())),
                                Policy.refusing(),
                                Map.of())));
        http2 = new Http2Caller(platform.server.edgeAddress().port());
    }

    /** A busy machine may take longer over HTTP/1.1 than the edge keeps an idle connection. */
    private static Http2Caller http2() throws Exception {
        if (!http2.isOpen()) {
            http2.close();
            http2 = new Http2Caller(platform.server.edgeAddress().port());
        }
        return http2;
    }

    @AfterAll
    static void stop() throws IOException {
        http2.close();
        platform.close();
        upstream.close();
        THREADS.shutdownNow();
    }

    @BeforeEach
    void forget() {
        upstream.permits.drainPermits();
        upstream.moved.set(0);
    }

    @AfterEach
    void nothingIsHeld() {
        await().until(() -> platform.server.bufferedBytes() == 0);
    }

    /** What the caller speaks. */
    enum Way {
        HTTP_1 {
            @Override
            Call call(String method, String path) throws Exception {
                return new Http1Call(method, path);
            }
        },
        HTTP_2 {
            @Override
            Call call(String method, String path) throws Exception {
                return new Http2Call(method, path);
            }
        };

        abstract Call call(String method, String path) throws Exception;
    }

    /** A call whose head is sent; its body is sent in parts. */
    abstract static class Call implements AutoCloseable {
        abstract void send(byte[] part) throws IOException;

        abstract void end() throws IOException;

        abstract InputStream in() throws Exception;

        /** Reads to the end of {@code text}. */
        void readUntil(String text) throws Exception {
            var read = new StringBuilder();
            while (read.indexOf(text) < 0) {
                int c = in().read();
                assertThat(c).as("the end behind " + read).isNotNegative();
                read.append((char) c);
            }
        }

        @Override
        public abstract void close() throws IOException;
    }

    private static final class Http1Call extends Call {
        private final Socket socket;

        Http1Call(String method, String path) throws IOException {
            socket = Wire.tls(platform.server.edgeAddress().port());
            write(method + " " + path + " HTTP/1.1\r\nHost: " + HOST + "\r\n"
                    + (method.equals("POST") ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
        }

        private void write(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        }

        @Override
        void send(byte[] part) throws IOException {
            write(Integer.toHexString(part.length) + "\r\n" + new String(part, StandardCharsets.ISO_8859_1)
                    + "\r\n");
        }

        @Override
        void end() throws IOException {
            write("0\r\n\r\n");
        }

        @Override
        InputStream in() throws IOException {
            return socket.getInputStream();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static final class Http2Call extends Call {
        private final Http2Caller.Stream stream;

        Http2Call(String method, String path) throws Exception {
            stream = http2().begin(new DefaultHttp2Headers().method(method)
                    .scheme("https")
                    .authority(HOST)
                    .path(path), !method.equals("POST"));
        }

        @Override
        void send(byte[] part) throws IOException {
            stream.send(part);
        }

        @Override
        void end() {
            stream.end();
        }

        @Override
        InputStream in() throws Exception {
            return stream.answered();
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1, /events", "HTTP_2, /events", "HTTP_1, /lines", "HTTP_2, /lines",
            "HTTP_1, /until-close",
            "HTTP_2, /until-close"})
    void aPartArrivesWhileTheUpstreamHoldsTheNextOneBack(Way way, String path) throws Exception {
        try (Call call = way.call("GET", path)) {
            upstream.permits.release();
            call.readUntil("first");

            upstream.permits.release();
            call.readUntil("second");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResponseLeavesWhileItsRequestStillComes(Way way) throws Exception {
        try (Call call = way.call("POST", "/turns")) {
            for (String word : List.of("one", "two", "three")) {
                call.send(word.getBytes(StandardCharsets.US_ASCII));
                call.readUntil("heard " + word);
            }
            call.end();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallerThatReadsNothingStopsTheUpstream(Way way) throws Exception {
        try (Call call = way.call("GET", "/endless")) {
            call.readUntil("*");

            awaitStandstill(upstream.moved::get);
            long before = upstream.moved.get();
            call.in().skipNBytes(UNDER_WAY);

            assertThat(upstream.moved.get()).isGreaterThan(before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUpstreamThatReadsNothingStopsTheCaller(Way way) throws Exception {
        AtomicLong sent = new AtomicLong();
        try (Call call = way.call("POST", "/unread")) {
            Future<?> writing = THREADS.submit(() -> {
                for (int i = 0; i < 2 * UNDER_WAY / STEP; i++) {
                    call.send(new byte[STEP]);
                    sent.addAndGet(STEP);
                }
                call.end();
                return null;
            });

            awaitStandstill(sent::get);
            upstream.permits.release();
            writing.get(1, TimeUnit.MINUTES); // 25 MiB/s on a quiet machine, a few on a busy one
            call.readUntil("read");

            assertThat(upstream.moved.get()).isEqualTo(2 * UNDER_WAY);
        }
    }

    /** Waits until nothing moves any more, which has to be long before {@link #UNDER_WAY}; little is held meanwhile. */
    private static void awaitStandstill(LongSupplier moved) {
        AtomicLong before = new AtomicLong();
        await().atMost(Duration.ofSeconds(20))
                .during(Duration.ofMillis(700))
                .until(() -> moved.getAsLong() > 0
                        && before.getAndSet(moved.getAsLong()) == moved.getAsLong());
        assertThat(moved.getAsLong()).isLessThan(UNDER_WAY);
        assertThat(platform.server.bufferedBytes() + client.bufferedBytes()).isPositive().isLessThan(2 * MIB);
    }

    @Test
    void aStreamThatStandsStillStopsNoOther() throws Exception {
        try (Call stalled = Way.HTTP_2.call("GET", "/endless");
                Call turns = Way.HTTP_2.call("POST", "/turns")) {
            stalled.readUntil("*");
            awaitStandstill(upstream.moved::get);

            turns.send("word".getBytes(StandardCharsets.US_ASCII));

            turns.readUntil("heard word");
        }
    }
}
