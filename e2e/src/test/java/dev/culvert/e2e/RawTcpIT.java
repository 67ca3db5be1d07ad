package dev.culvert.e2e;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.TcpRouteConfig;
import dev.culvert.server.ServerConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.zip.CRC32;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS that ends at an upstream in the cluster, through edge, tunnel and router. */
class RawTcpIT {
    private static final String NAME = "echo.acme-prod." + Platform.DOMAIN;
    private static final int MUCH = 64 << 20;
    private static final int PIECE = 64 << 10;

    @TempDir
    Path folder;
    @AutoClose
    private final TlsEcho upstream = upstream();

    private static TlsEcho upstream() {
        try {
            return new TlsEcho(NAME);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Platform platform() throws Exception {
        Platform platform = Platform.start(folder,
                usual -> usual.with(new ServerConfig.Tcp(HostPort.parse("127.0.0.1:0"))));
        var router = new RoutingConfig(List.of(),
                List.of(TcpRouteConfig.named("echo", HostPort.parse("127.0.0.1:" + upstream.port()))),
                RoutingConfig.Policy.refusing(), Map.of());
        platform.connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                router));
        return platform;
    }

    private static int port(Platform platform) {
        return Objects.requireNonNull(platform.server.tcpAddress()).port();
    }

    private static String echo(SSLSocket caller, String text) throws IOException {
        caller.getOutputStream().write(text.getBytes(US_ASCII));
        return new String(caller.getInputStream().readNBytes(text.length()), US_ASCII);
    }

    @Test
    void theCallerSpeaksTlsWithTheUpstreamItself() throws Exception {
        try (Platform platform = platform(); SSLSocket caller = upstream.call(port(platform))) {
            assertThat(echo(caller, "hello")).isEqualTo("hello");
            assertThat(caller.getSession().getPeerCertificates()[0]).isEqualTo(upstream.certificate());
            assertThat(platform.metrics()).contains("culvert_tcp_connections{runtime=\"acme/prod\"} 1");

            caller.shutdownOutput();
            assertThat(caller.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void muchCrossesBothWaysThroughFewBytes() throws Exception {
        try (Platform platform = platform(); SSLSocket caller = upstream.call(port(platform))) {
            var sent = new CRC32();
            Thread writer = Thread.startVirtualThread(() -> write(caller, sent));
            var received = new CRC32();
            byte[] piece = new byte[PIECE];
            long most = 0;
            for (int from = 0; from < MUCH; from += PIECE) {
                assertThat(caller.getInputStream().readNBytes(piece, 0, PIECE)).isEqualTo(PIECE);
                received.update(piece);
                most = Math.max(most, platform.server.bufferedBytes());
            }
            writer.join();

            assertThat(received.getValue()).isEqualTo(sent.getValue());
            assertThat(most).isLessThan(2 << 20);
            assertThat(caller.getInputStream().read()).isEqualTo(-1);
        }
    }

    private static void write(SSLSocket caller, CRC32 sum) {
        var random = new Random(1);
        byte[] piece = new byte[PIECE];
        try {
            for (int from = 0; from < MUCH; from += PIECE) {
                random.nextBytes(piece);
                sum.update(piece);
                caller.getOutputStream().write(piece);
            }
            caller.shutdownOutput();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aConnectionWaitsForItsTunnel() throws Exception {
        try (Platform platform = platform()) {
            platform.disconnectAll();
            try (SSLSocket caller = upstream.call(port(platform))) {
                assertThat(echo(caller, "held")).isEqualTo("held");
            }
        }
    }

    @Test
    void aLostTunnelIsAReset() throws Exception {
        try (Platform platform = platform(); SSLSocket caller = upstream.call(port(platform))) {
            echo(caller, "hello");
            platform.disconnectAll();

            assertThatThrownBy(() -> caller.getInputStream().read()).isInstanceOf(IOException.class)
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void whatTheClusterDoesNotListIsDenied() throws Exception {
        try (Platform platform = platform();
                SSLSocket other = upstream.call("db.acme-prod." + Platform.DOMAIN, port(platform));
                SSLSocket unknown = upstream.call("echo.acme-test." + Platform.DOMAIN, port(platform))) {
            assertThatThrownBy(other::startHandshake).isInstanceOf(SSLException.class)
                    .hasMessageContaining("access_denied");
            assertThatThrownBy(unknown::startHandshake).isInstanceOf(SSLException.class)
                    .hasMessageContaining("unrecognized_name");
            assertThat(platform.metrics())
                    .contains("culvert_problems_total{cause=\"not-allowed\",hop=\"router\"} 1");
        }
    }

    @Test
    void aClientOfOneUpstreamTakesNone() throws Exception {
        try (Platform platform = Platform.start(folder,
                usual -> usual.with(new ServerConfig.Tcp(HostPort.parse("127.0.0.1:0"))))) {
            platform.connect("acme", "prod", URI.create("https://127.0.0.1:" + upstream.port()));

            try (SSLSocket caller = upstream.call(port(platform))) {
                assertThatThrownBy(caller::startHandshake).hasMessageContaining("access_denied");
            }
        }
    }

    @Test
    void aDrainLetsAConnectionEnd() throws Exception {
        try (Platform platform = platform()) {
            SSLSocket caller = upstream.call(port(platform));
            echo(caller, "hello");
            var stopping = platform.server.stop(Duration.ofSeconds(20)).toFuture();
            await().until(() -> platform.server.edgeConnections() == 0);

            assertThat(echo(caller, "still")).isEqualTo("still");
            caller.shutdownOutput();
            assertThat(caller.getInputStream().read()).isEqualTo(-1);
            caller.close();
            stopping.get();
        }
    }
}
