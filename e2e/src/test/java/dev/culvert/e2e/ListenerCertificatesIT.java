package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.client.TunnelClient;
import dev.culvert.server.ServerConfig;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Certificates of a running server: chosen by name, and replaced under way. */
class ListenerCertificatesIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");

    @TempDir
    Path folder;

    private TlsMaterial write(String name, Duration life, String... names) {
        TlsMaterial material = CertificateAuthority.load(folder.resolve("ca.crt"), folder.resolve("ca.key"))
                .issueServer(List.of(names), List.of(), life);
        material.writeTo(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
        return material;
    }

    private ServerConfig.Tls pair(String name, String... names) {
        write(name, Duration.ofDays(1), names);
        return new ServerConfig.Tls(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    private static int status(HttpClient caller) {
        return caller.get()
                .uri("/x")
                .responseSingle((head, body) -> body.asString().thenReturn(head.status().code()))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    @Test
    void theNameThatIsAskedForChoosesTheCertificateAndTheHostTheRuntime() throws Exception {
        try (Platform platform = Platform.start(folder,
                usual -> Listeners.withCertificates(usual, pair("wild", "*.acme.example"),
                        pair("git", "git.acme.example")))) {
            platform.connect("acme", "prod", NOWHERE);
            int port = platform.server.edgeAddress().port();
            TlsDial caller = new TlsDial(null);

            assertThat(caller.leaf(port, "git.acme.example").getSubjectX500Principal())
                    .hasToString("CN=git.acme.example");
            assertThat(caller.leaf(port, "www.acme.example").getSubjectX500Principal())
                    .hasToString("CN=*.acme.example");
            assertThat(caller.leaf(port, "unknown.example").getSubjectX500Principal())
                    .hasToString("CN=" + Platform.DOMAIN);
            TlsDial.Answer answer = caller.say(port, "git.acme.example", "GET /x HTTP/1.1",
                    "Host: acme-prod." + Platform.DOMAIN, "Connection: close");
            assertThat(answer.answer()).startsWith("HTTP/1.1 502 ").contains("upstream-refused");
            assertThat(answer.asked()).isFalse();
        }
    }

    @Test
    void newFilesServeNewHandshakesAndTouchNoLiveSession() throws Exception {
        ConnectionProvider one = ConnectionProvider.create("one", 1);
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect("acme", "prod", NOWHERE);
            Set<String> sessions = platform.sessions();
            HttpClient caller = platform.caller("acme", "prod", one);
            assertThat(status(caller)).isEqualTo(502);
            int connections = platform.server.edgeConnections();

            TlsMaterial edge = write("edge", Duration.ofDays(9), Platform.DOMAIN, "*." + Platform.DOMAIN);
            TlsMaterial tunnel = write("tunnel", Duration.ofDays(8), "localhost", Platform.DOMAIN);
            TlsDial dial = new TlsDial(null);
            await().atMost(PATIENCE)
                    .until(() -> dial.leaf(platform.server.edgeAddress().port(), Platform.DOMAIN)
                            .equals(edge.leaf())
                            && dial.leaf(platform.server.tunnelAddress().port(), Platform.DOMAIN)
                                    .equals(tunnel.leaf()));

            assertThat(status(caller)).isEqualTo(502);
            assertThat(platform.server.edgeConnections()).isEqualTo(connections);
            assertThat(client.isLive()).isTrue();
            assertThat(platform.sessions()).containsAll(sessions);
            assertThat(platform.metrics()).contains(gauge("edge", edge), gauge("tunnel", tunnel));
        } finally {
            one.dispose();
        }
    }

    private static String gauge(String listener, TlsMaterial material) {
        double end = material.leaf().getNotAfter().toInstant().getEpochSecond();
        return "culvert_certificate_not_after_seconds{listener=\"" + listener + "\"} " + end;
    }

    @Test
    void filesThatCantBeUsedReplaceNothing() throws Exception {
        try (Platform platform = Platform.start(folder,
                usual -> Listeners.withCertificates(usual, pair("git", "git.acme.example")))) {
            int port = platform.server.edgeAddress().port();
            TlsDial dial = new TlsDial(null);
            var before = dial.leaf(port, Platform.DOMAIN);

            Files.writeString(folder.resolve("edge.key"), "-----BEGIN PRIVATE KEY-----\n");
            TlsMaterial git = write("git", Duration.ofDays(9), "git.acme.example");
            await().atMost(PATIENCE).until(() -> dial.leaf(port, "git.acme.example").equals(git.leaf()));

            assertThat(dial.leaf(port, Platform.DOMAIN)).isEqualTo(before);
        }
    }
}
