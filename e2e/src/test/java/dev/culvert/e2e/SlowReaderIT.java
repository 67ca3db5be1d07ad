package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.client.TunnelClient;
import io.netty.buffer.Unpooled;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** One caller that reads slowly: what it costs in memory, and what others feel of it. */
class SlowReaderIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int MIB = 1 << 20;
    private static final int DOWNLOAD = 256 * MIB;
    /** Set to measure (docs/performance.md): then the run is long, and what others feel is judged too. */
    private static final boolean MEASURE = Boolean.getBoolean("culvert.measure");
    /** Long enough for every window and buffer on the way to fill. */
    private static final Duration RUN = Duration.ofSeconds(MEASURE ? 20 : 3);
    private static final int PROBES = MEASURE ? 5000 : 50;
    /** Until the JIT compiler has nothing left to do, or the figure alone would be the worse one. */
    private static final int WARM_UP = MEASURE ? 30_000 : 50;

    @TempDir
    Path folder;

    @Test
    void aSlowReaderCostsLittleMemoryAndDelaysNobody() throws Exception {
        byte[] small = new byte[1024];
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/small", (request, response) -> response.sendByteArray(Mono.just(small)))
                        .get("/big", (request, response) -> response.header("content-length", "" + DOWNLOAD)
                                .send(Flux.range(0, DOWNLOAD / 65536)
                                        .map(i -> Unpooled.wrappedBuffer(new byte[65536])))))
                .bindNow();
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect("acme", "prod",
                    URI.create("http://127.0.0.1:" + upstream.port()));
            HttpClient caller = platform.caller("acme", "prod", ConnectionProvider.create("callers", 8));
            probe(caller, WARM_UP);
            double alone = p99(probe(caller, PROBES));

            long most;
            double beside;
            try (Reader reader = new Reader(platform)) {
                Thread slow = Thread.ofPlatform().daemon().start(reader);
                most = 0;
                long end = System.nanoTime() + RUN.toNanos();
                double[] samples = {};
                // Where the kernel's buffers take long to fill, until they are full.
                while (System.nanoTime() < (most == 0 ? end + PATIENCE.toNanos() : end)) {
                    samples = concat(samples, probe(caller, 20));
                    most = Math.max(most, platform.server.bufferedBytes() + client.bufferedBytes());
                }
                beside = p99(samples);
                reader.stop();
                slow.join(PATIENCE.toMillis());
                assertThat(reader.received.get()).as("bytes the slow reader got").isGreaterThan(2L * MIB);
            }

            System.out.printf(
                    "slow reader: at most %d KiB buffered; p99 of 1 KiB GETs %.2f ms alone, %.2f ms beside it%n",
                    most >> 10, alone, beside);
            // On a busy machine the window may grow to what the kernel's buffers hold, while they fill.
            assertThat(most).isPositive().isLessThan(MEASURE ? 2 * MIB : 8 * MIB);
            if (MEASURE) {
                assertThat(beside).isLessThan(3 * alone);
            }
        } finally {
            upstream.disposeNow();
        }
    }

    private static double[] probe(HttpClient caller, int times) {
        double[] millis = new double[times];
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            Integer status = caller.get()
                    .uri("/small")
                    .responseSingle((head, body) -> body.asByteArray()
                            .map(bytes -> head.status().code() + bytes.length))
                    .block(PATIENCE);
            millis[i] = (System.nanoTime() - start) / 1e6;
            assertThat(status).isEqualTo(1224);
        }
        return millis;
    }

    private static double p99(double[] samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.ceil(sorted.length * 0.99) - 1];
    }

    private static double[] concat(double[] first, double[] second) {
        double[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** Downloads at 1 MiB/s, with a small receive buffer, so that the kernel does not read for it. */
    private static final class Reader implements Runnable, AutoCloseable {
        private static final int STEP = 16 << 10;
        private final Socket plain;
        private final Socket socket;
        private volatile boolean stopped;
        final AtomicLong received = new AtomicLong();

        Reader(Platform platform) throws Exception {
            plain = new Socket();
            plain.setReceiveBufferSize(64 << 10);
            plain.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(),
                    platform.server.edgeAddress().port()));
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            socket = tls.getSocketFactory().createSocket(plain, "localhost", plain.getPort(), true);
            socket.getOutputStream()
                    .write(("GET /big HTTP/1.1\r\nHost: acme-prod." + Platform.DOMAIN + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
        }

        void stop() {
            stopped = true;
        }

        @Override
        public void run() {
            long start = System.nanoTime();
            byte[] step = new byte[STEP];
            try (InputStream in = socket.getInputStream()) {
                while (!stopped) {
                    int read = in.read(step);
                    if (read < 0) {
                        return;
                    }
                    long all = received.addAndGet(read);
                    long due = start + all * 1_000_000_000L / MIB;
                    LockSupport.parkNanos(due - System.nanoTime()); // the rate is the point of this reader
                }
            } catch (IOException e) {
                // closed at the end of the test
            }
        }

        @Override
        public void close() throws IOException {
            plain.close();
        }
    }
}
