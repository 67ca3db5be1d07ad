package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.ListenException;
import dev.culvert.relay.quota.CallerLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When balancers learn that a server stops: not before its successor listens, if there is one. */
class SuccessorIT {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration GRACE = Duration.ofSeconds(30);

    @TempDir
    Path folder;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeEach
    void certify() {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("t.example"), List.of(), DAY)
                .writeTo(folder.resolve("e.crt"), folder.resolve("e.key"));
    }

    @AfterEach
    void close() {
        client.close();
    }

    /** Each case takes the seconds of a drain, so all run at once. */
    @Test
    void aServerIsReadyUntilItsSuccessorListens() throws Exception {
        List<Callable<Boolean>> cases = List.of(this::theSuccessorListens,
                this::theSuccessorEndsBeforeItListens,
                this::thereIsNoSuccessor);
        try (var threads = Executors.newFixedThreadPool(cases.size())) {
            for (Future<Boolean> done : threads.invokeAll(cases)) {
                done.get();
            }
        }
    }

    private boolean theSuccessorListens() throws Exception {
        TunnelServer old = await(TunnelServer.start(config("listens", ANY)));
        CompletableFuture<?> begun = waiting("listens", ANY);

        CompletableFuture<?> stopped = old.stop(GRACE).toFuture();
        untilNotReady(old);

        assertThat(begun).isCompleted();
        TunnelServer next = (TunnelServer) begun.get();
        assertThat(ready(next)).isEqualTo(200);
        assertStillAccepts(old);
        stopped.get();
        next.stop(Duration.ZERO).block();
        return true;
    }

    private boolean theSuccessorEndsBeforeItListens() throws Exception {
        TunnelServer old = await(TunnelServer.start(config("ends", ANY)));
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<?> begun = waiting("ends", new HostPort("127.0.0.1", taken.getLocalPort()));

            CompletableFuture<?> stopped = old.stop(GRACE).toFuture();
            untilNotReady(old);

            assertThat(begun).isCompletedExceptionally();
            assertThat(begun.handle((none, failed) -> failed).get()).isInstanceOf(ListenException.class);
            assertStillAccepts(old);
            stopped.get();
        }
        return true;
    }

    private boolean thereIsNoSuccessor() throws Exception {
        TunnelServer alone = await(TunnelServer.start(config("alone", ANY)));

        CompletableFuture<?> stopped = alone.stop(GRACE).toFuture();
        untilNotReady(alone);

        assertStillAccepts(alone);
        stopped.get();
        return true;
    }

    private CompletableFuture<?> waiting(String name, HostPort edge) {
        CompletableFuture<?> next = TunnelServer.start(config(name, edge)).toFuture();
        Awaitility.await().until(() -> isAwaited(name));
        return next;
    }

    /** Whether a note in the database says that a server waits for it. */
    private boolean isAwaited(String name) throws SQLException {
        String file = "jdbc:sqlite:file:" + folder.resolve(name).resolve("culvert.db") + "?mode=ro";
        try (var connection = DriverManager.getConnection(file);
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT value FROM lease_notes WHERE name = 'waiting'")) {
            return row.next() && row.getLong(1) > 0;
        }
    }

    private void untilNotReady(TunnelServer server) {
        Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> ready(server) == 503);
    }

    private int ready(TunnelServer server) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://" + server.adminAddress() + "/readyz"))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    private static void assertStillAccepts(TunnelServer server) throws IOException {
        for (HostPort address : List.of(server.edgeAddress(), server.tunnelAddress())) {
            try (var socket = new Socket(address.host(), address.port())) {
                assertThat(socket.isConnected()).isTrue();
            }
        }
    }

    private ServerConfig config(String name, HostPort edge) {
        var tls = new ServerConfig.Tls(folder.resolve("e.crt"), folder.resolve("e.key"));
        return new ServerConfig(
                new ServerConfig.Edge(edge, "t.example", tls, List.of(), false, CallerLimits.defaults(),
                        List.of(),
                        false, false, true),
                new ServerConfig.Tunnel(ANY, tls, false, false, List.of(), false,
                        new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), DAY), false),
                new ServerConfig.Admin(ANY, folder.resolve("admin.token")), folder.resolve(name),
                new ServerConfig.Store(Duration.ofMinutes(1)));
    }
}
