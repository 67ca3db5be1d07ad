package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.PemFiles;
import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.ProxyConfig;
import dev.culvert.relay.testing.TestProxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.client.HttpClient;

/** Tunnels that leave the cluster by real proxies. */
class OutboundIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    @TempDir
    private Path folder;

    private ClientConfig config(Platform platform, ProxyConfig proxy, @Nullable Path extraCa)
            throws Exception {
        ClientConfig plain = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"),
                URI.create("http://127.0.0.1:1"), null);
        return new ClientConfig(plain.server(), platform.folder.resolve("ca.crt"), extraCa, proxy,
                plain.enrolmentTokenFile(), plain.identityDir(), plain.health(), plain.to(), null, null, 1);
    }

    private ProxyConfig by(String scheme, TestProxy proxy) throws Exception {
        Path password = Files.writeString(folder.resolve("password"), "s3cret");
        return new ProxyConfig(URI.create(scheme + "://me@127.0.0.1:" + proxy.port()), password, List.of());
    }

    private static String body(String url) {
        return HttpClient.create()
                .get()
                .uri(url)
                .responseContent()
                .aggregate()
                .asString()
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static int status(Platform platform) {
        return platform.caller("acme", "prod")
                .get()
                .uri("/x")
                .response()
                .blockOptional(PATIENCE)
                .orElseThrow()
                .status()
                .code();
    }

    @Test
    void enrolmentAndTunnelPassAnHttpProxyAndComeBackWhenItCutsThem() throws Exception {
        try (Platform platform = Platform.start(folder); TestProxy proxy = TestProxy.http("me", "s3cret")) {
            TunnelClient client = platform.connect(config(platform, by("http", proxy), null));
            String target = "localhost:" + platform.server.tunnelAddress().port();
            assertThat(status(platform)).isEqualTo(502); // the upstream's: the request came through
            assertThat(proxy.targets()).hasSize(3).containsOnly(target); // nonce, certificate, tunnel

            proxy.cut();
            Awaitility.await().atMost(PATIENCE).until(() -> proxy.targets().size() > 3 && client.isLive());

            assertThat(status(platform)).isEqualTo(502);
            assertThat(body("http://" + client.healthAddress() + "/status"))
                    .contains("\"state\":\"connected\"",
                            "\"proxy\":\"http://127.0.0.1:" + proxy.port(), "\"lastFailure\":{\"at\":")
                    .doesNotContain("s3cret", "me@");
        }
    }

    @Test
    void enrolmentAndTunnelPassASocksProxy() throws Exception {
        try (Platform platform = Platform.start(folder); TestProxy proxy = TestProxy.socks5("me", "s3cret")) {
            platform.connect(config(platform, by("socks5", proxy), null));

            assertThat(status(platform)).isEqualTo(502);
            assertThat(proxy.targets()).hasSize(3);
        }
    }

    /** Neither the token nor a certificate is believed by accident: the issuer stands in the status. */
    @Test
    void anInspectingProxyWhoseAuthorityIsNotTrustedIsNamedInTheStatus() throws Exception {
        CertificateAuthority corporate = CertificateAuthority.create("Corporate inspection",
                Clock.systemUTC());
        try (Platform platform = Platform.start(folder);
                TestProxy proxy = TestProxy.http("me", "s3cret").inspecting(corporate)) {
            TunnelClient client = platform.start(config(platform, by("http", proxy), null), event -> {});

            Awaitility.await()
                    .atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(body("http://" + client.healthAddress() + "/status"))
                                    .contains("\"state\":\"enrolling\"", "CN=Corporate inspection"));
        }
    }

    /** The client's certificate does not arrive: it is proven in the first frames. */
    @Test
    void anInspectingProxyThatIsTrustedLetsTheTunnelPass() throws Exception {
        CertificateAuthority corporate = CertificateAuthority.create("Corporate inspection",
                Clock.systemUTC());
        Path extraCa = folder.resolve("extra.crt");
        PemFiles.writeCertificates(extraCa, List.of(corporate.certificate()));
        try (Platform platform = Platform.start(folder);
                TestProxy proxy = TestProxy.http("me", "s3cret").inspecting(corporate)) {
            platform.connect(config(platform, by("http", proxy), extraCa));

            assertThat(status(platform)).isEqualTo(502); // the upstream's: the request came through
        }
    }

    @Test
    void aServerThatRequiresMutualTlsRefusesWhatAProxyInspects() throws Exception {
        CertificateAuthority corporate = CertificateAuthority.create("Corporate inspection",
                Clock.systemUTC());
        Path extraCa = folder.resolve("extra.crt");
        PemFiles.writeCertificates(extraCa, List.of(corporate.certificate()));
        try (Platform platform = Platform.startRequiringMutualTls(folder);
                TestProxy proxy = TestProxy.http("me", "s3cret").inspecting(corporate)) {
            TunnelClient client = platform.start(config(platform, by("http", proxy), extraCa), event -> {});

            Awaitility.await()
                    .atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(body("http://" + client.healthAddress() + "/status"))
                                    .contains("\"state\":\"connecting\"", "\"runtime\":\"acme/prod\"",
                                            "401: no client certificate was shown, and this server requires mutual TLS"));
        }
    }
}
