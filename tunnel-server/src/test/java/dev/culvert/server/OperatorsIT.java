package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.util.concurrent.EventExecutor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What operators are answered while the data plane is not able to answer anybody. */
class OperatorsIT {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final Duration DAY = Duration.ofDays(1);

    @TempDir
    private Path folder;

    private final AtomicBoolean released = new AtomicBoolean();
    private final LongAdder spins = new LongAdder();
    private final HttpClient client = HttpClient.newHttpClient();
    private TunnelServer server;

    @BeforeEach
    void start() {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("t.example"), List.of(), DAY)
                .writeTo(folder.resolve("e.crt"), folder.resolve("e.key"));
        var tls = new ServerConfig.Tls(folder.resolve("e.crt"), folder.resolve("e.key"));
        server = await(TunnelServer.start(new ServerConfig(
                new ServerConfig.Edge(ANY, "t.example", tls, List.of(), false, CallerLimits.defaults(),
                        List.of(),
                        false, false, true),
                new ServerConfig.Tunnel(ANY, tls, false, false, List.of(), false,
                        new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), DAY), false),
                new ServerConfig.Admin(ANY, folder.resolve("admin.token")), folder.resolve("data"),
                new ServerConfig.Store(Duration.ofSeconds(10)))));
    }

    @AfterEach
    void stop() {
        released.set(true);
        server.stop(Duration.ZERO).block(Duration.ofSeconds(20));
        client.close();
    }

    private HttpResponse<String> ask(String method, String path, String body) throws Exception {
        String token = Files.readString(folder.resolve("admin.token")).strip();
        return client.send(HttpRequest.newBuilder(URI.create("http://" + server.adminAddress() + path))
                .header("authorization", "Bearer " + token)
                .header("content-type", "application/json")
                .timeout(Duration.ofSeconds(20))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Each loop for traffic does nothing else until the end. */
    private void stall() throws InterruptedException {
        int loops = 0;
        for (EventExecutor any : server.loops().group()) {
            assertThat(any.isShuttingDown()).isFalse();
            loops++;
        }
        var stalled = new CountDownLatch(loops);
        for (EventExecutor loop : server.loops().group()) {
            loop.execute(() -> {
                stalled.countDown();
                while (!released.get()) {
                    spins.increment(); // nothing that a watch for blocking calls would end
                }
            });
        }
        assertThat(stalled.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"GET, /healthz, , 200", "GET, /readyz, , 200", "GET, /metrics, , 200",
            "GET, /api/v1/runtimes, , 200", "GET, /api/v1/tunnels, , 200",
            "POST, /api/v1/runtimes, '{\"account\":\"acme\",\"name\":\"prod\"}', 201"})
    void operatorsAreAnsweredWhileAllLoopsAreStalled(String method, String path, String body, int status)
            throws Exception {
        stall();

        assertThat(ask(method, path, body == null ? "" : body).statusCode()).isEqualTo(status);
    }
}
