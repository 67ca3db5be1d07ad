package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.PemFiles;
import dev.culvert.client.EnrolmentServer;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.relay.testing.TestProxy;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Enrolments that leave through proxies: real proxies, a real server, real TLS. */
class OutboundProxyIT {
    private static final CertificateAuthority CA = EnrolmentServer.authority();
    private static final EventLoops LOOPS = EventLoops.create(1);
    private final EnrolmentToken token = EnrolmentToken.generate(CA.certificate());
    private final EnrolmentServer server = new EnrolmentServer(CA, token);
    private final URI byName = URI.create("wss://localhost:" + server.address().getPort());
    @TempDir
    private Path folder;

    @BeforeAll
    static void watchEventLoops() {
        EventLoopWatch.install();
    }

    @AfterEach
    void closeServer() {
        server.close();
    }

    @AfterAll
    static void closeLoops() {
        LOOPS.dispose();
    }

    private Identity obtain(URI address, String proxy, @Nullable Path passwordFile, @Nullable Path extraCa)
            throws IOException {
        Path tokenFile = Files.writeString(folder.resolve("token"), token.text());
        var config = new ClientConfig(List.of(address), null, extraCa,
                new ProxyConfig(URI.create(proxy), passwordFile, List.of()), tokenFile,
                folder.resolve("home"),
                new ClientConfig.Health(HostPort.parse("127.0.0.1:0")), null, null, null, 2);
        return new IdentitySource(config, LOOPS, Clock.systemUTC()).identity().blockOptional().orElseThrow();
    }

    private Path password(String text) throws IOException {
        return Files.writeString(folder.resolve("password"), text + "\n");
    }

    private void assertFails(String proxy, @Nullable Path passwordFile, String... reason) {
        assertThatThrownBy(() -> obtain(byName, proxy, passwordFile, null))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContainingAll(reason)
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())).doesNotContain("s3cret"));
        assertThat(server.requests()).isZero();
    }

    @Test
    void anEnrolmentPassesAnHttpProxyWhichResolvesTheName() throws IOException {
        try (TestProxy proxy = TestProxy.http(null, null)) {
            assertThat(obtain(byName, "http://127.0.0.1:" + proxy.port(), null, null).client().runtime())
                    .isEqualTo("prod");
            assertThat(proxy.targets()).hasSize(2).containsOnly("localhost:" + byName.getPort());
        }
    }

    @Test
    void anHttpProxyGetsUserAndPassword() throws IOException {
        try (TestProxy proxy = TestProxy.http("me", "s3cret")) {
            obtain(byName, "http://me@localhost:" + proxy.port(), password("s3cret"), null);

            assertThat(proxy.targets()).hasSize(2);
        }
    }

    @Test
    void aSocksProxyResolvesTheName() throws IOException {
        try (TestProxy proxy = TestProxy.socks5(null, null)) {
            obtain(byName, "socks5://127.0.0.1:" + proxy.port(), null, null);

            assertThat(proxy.targets()).hasSize(2).containsOnly("localhost:" + byName.getPort());
        }
    }

    @Test
    void aSocksProxyGetsUserAndPassword() throws IOException {
        try (TestProxy proxy = TestProxy.socks5("me", "s3cret")) {
            obtain(server.address(), "socks5://me@127.0.0.1:" + proxy.port(), password("s3cret"), null);

            assertThat(proxy.targets()).hasSize(2).containsOnly("127.0.0.1:" + byName.getPort());
        }
    }

    @Test
    void aMissingOrWrongPasswordIsSaidWithoutIt() throws IOException {
        try (TestProxy http = TestProxy.http("me", "right");
                TestProxy socks = TestProxy.socks5("me", "right")) {
            String httpUrl = "http://127.0.0.1:" + http.port();
            String socksUrl = "socks5://127.0.0.1:" + socks.port();

            assertFails(httpUrl, null, httpUrl + " (proxy.url) wants a user and a password", "(407)");
            assertFails(httpUrl.replace("//", "//me@"), password("s3cret"), httpUrl, "refuses the user",
                    "(407)");
            assertFails(socksUrl, null, socksUrl + " (proxy.url) wants a user and a password");
            assertFails(socksUrl.replace("//", "//me@"), password("s3cret"), socksUrl, "refuses the user");
        }
    }

    @Test
    void whatAProxyAnswersIsSaid() throws IOException {
        try (TestProxy proxy = TestProxy.http(null, null)) {
            String url = "http://127.0.0.1:" + proxy.port();

            proxy.answering("403 Forbidden");
            assertFails(url, null, "does not let this client to " + byName.getAuthority() + " (403)");
            proxy.answering("502 Bad Gateway");
            assertFails(url, null, url + " (proxy.url) answered 502 Bad Gateway to CONNECT");
        }
    }

    @Test
    void aProxyThatIsNotThereIsNamed() throws IOException {
        int free;
        try (var reserved = new ServerSocket(0)) {
            free = reserved.getLocalPort();
        }

        assertFails("http://localhost:" + free, null, "the proxy http://localhost:" + free,
                "can't be reached",
                "refused");
        assertFails("socks5://no.such.invalid:1", null, "the proxy socks5://no.such.invalid:1",
                "can't be resolved");
    }

    @Test
    void anInspectingProxyIsRefusedByNameUnlessItsAuthorityIsTrustedOnTop() throws IOException {
        CertificateAuthority corporate = CertificateAuthority.create("Corporate inspection",
                Clock.systemUTC());
        Path extraCa = folder.resolve("extra.crt");
        PemFiles.writeCertificates(extraCa, List.of(corporate.certificate()));
        try (TestProxy proxy = TestProxy.http(null, null).inspecting(corporate)) {
            String url = "http://127.0.0.1:" + proxy.port();

            assertFails(url, null, "issued by CN=Corporate inspection, is not trusted");
            Identity enrolled = obtain(byName, url, null, extraCa);

            assertThat(enrolled.trust().authorities()).contains(corporate.certificate(), CA.certificate());
        }
    }
}
