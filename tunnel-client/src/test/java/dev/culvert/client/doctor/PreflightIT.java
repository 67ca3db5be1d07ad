package dev.culvert.client.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.client.EnrolmentServer;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Finding;
import dev.culvert.client.dial.Finding.Result;
import dev.culvert.client.dial.ProxyConfig;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.relay.testing.TestProxy;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.ssl.SslContext;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** What a pre-flight says of real servers and real proxies. */
class PreflightIT {
    private static final CertificateAuthority CA = EnrolmentServer.authority();
    private static final CertificateAuthority CORPORATE = CertificateAuthority.create("Corporate inspection",
            Clock.systemUTC());
    private static final EventLoops LOOPS = EventLoops.create(1);
    private static final Duration NOT_AT_ALL = Duration.ZERO;
    private static final String UNAUTHORIZED = "{\"type\":\"urn:culvert:problem:unauthorized\",\"status\":401}";
    @TempDir
    private Path folder;
    private @Nullable DisposableServer server;

    @BeforeAll
    static void watchEventLoops() {
        EventLoopWatch.install();
    }

    @AfterAll
    static void closeLoops() {
        LOOPS.dispose();
    }

    @BeforeEach
    void writeAuthorities() {
        PemFiles.writeCertificates(folder.resolve("ca.crt"), List.of(CA.certificate()));
        PemFiles.writeCertificates(folder.resolve("extra.crt"), List.of(CORPORATE.certificate()));
    }

    @AfterEach
    void closeServer() {
        if (server != null) {
            server.disposeNow();
        }
    }

    /** A server that answers every request like this. */
    private void serving(int status, String type, String body, Instant date, Duration idle) {
        serving(InetAddress.getLoopbackAddress(), status, type, body, date, idle);
    }

    private void serving(InetAddress address, int status, String type, String body, Instant date,
            Duration idle) {
        SslContext tls = TlsContexts.tunnel(
                CA.issueServer(List.of("localhost"), List.of(address), Duration.ofDays(1)),
                List.of(CA.certificate()), List.of("http/1.1"));
        server = HttpServer.create()
                .host(address.getHostAddress())
                .port(0)
                .idleTimeout(idle)
                .secure(spec -> spec.sslContext(tls))
                .handle((request, response) -> response.status(status)
                        .header("content-type", type)
                        .header("date", DateFormatter.format(Date.from(date)))
                        .header("via", "1.1 stripper")
                        .sendString(Mono.just(body)))
                .bindNow();
    }

    private void servingCulvert() {
        serving(401, "application/problem+json", UNAUTHORIZED, Instant.now(), Duration.ofMinutes(1));
    }

    private Map<String, Finding> check(@Nullable ProxyConfig proxy, @Nullable Path extraCa, Duration idle) {
        int port = Objects.requireNonNull(server).port();
        return check("wss://localhost:" + port, proxy, extraCa, idle);
    }

    private Map<String, Finding> check(String address, @Nullable ProxyConfig proxy, @Nullable Path extraCa,
            Duration idle) {
        var config = new ClientConfig(List.of(URI.create(address)), folder.resolve("ca.crt"), extraCa, proxy,
                null,
                folder.resolve("home"), new ClientConfig.Health(HostPort.parse("127.0.0.1:0")), null, null,
                null, 2);
        return new Preflight(config, LOOPS, Clock.systemUTC()).check(config.server().getFirst(), idle)
                .collectList()
                .blockOptional(Duration.ofSeconds(40))
                .orElseThrow()
                .stream()
                .collect(Collectors.toMap(Finding::check, Function.identity()));
    }

    private static Finding of(Map<String, Finding> findings, String check) {
        return Objects.requireNonNull(findings.get(check), () -> check + " in " + findings);
    }

    private static ProxyConfig by(TestProxy proxy) {
        return new ProxyConfig(URI.create("http://127.0.0.1:" + proxy.port()), null, List.of());
    }

    @Test
    void aServerThatAsksForACertificateIsWellAndNothingIsWritten() {
        servingCulvert();

        Map<String, Finding> findings = check(null, null, Duration.ofSeconds(1));

        assertThat(findings.values()).extracting(Finding::result).containsOnly(Result.OK);
        assertThat(findings).containsOnlyKeys("proxy", "dns", "connect", "tls", "websocket", "clock", "idle");
        assertThat(of(findings, "dns").detail()).startsWith("localhost is 127.0.0.1");
        assertThat(of(findings, "tls").detail()).contains("TLSv1.3", "issued by CN=Culvert test CA");
        assertThat(of(findings, "idle").detail()).contains("silent for 1 s still works");
        assertThat(folder.resolve("home")).doesNotExist();
    }

    @Test
    void aServerWithAnIpv6AddressIsWell() {
        InetAddress loopback = InetAddress.ofLiteral("::1");
        try {
            serving(loopback, 401, "application/problem+json", UNAUTHORIZED, Instant.now(),
                    Duration.ofMinutes(1));
        } catch (ChannelBindException e) {
            abort("no IPv6 here");
        }

        Map<String, Finding> findings = check("wss://[::1]:" + Objects.requireNonNull(server).port(), null,
                null,
                Duration.ofSeconds(1));

        assertThat(findings.values()).extracting(Finding::result).containsOnly(Result.OK);
        assertThat(findings).hasSize(7);
    }

    @Test
    void anInspectingProxysIssuerIsNamed() throws Exception {
        servingCulvert();
        try (TestProxy proxy = TestProxy.http(null, null).inspecting(CORPORATE)) {
            Finding refused = of(check(by(proxy), null, NOT_AT_ALL), "tls");
            Map<String, Finding> trusted = check(by(proxy), folder.resolve("extra.crt"), NOT_AT_ALL);

            assertThat(refused.result()).isEqualTo(Result.FAILED);
            assertThat(refused.detail()).contains("CN=Corporate inspection");
            assertThat(refused.advice()).contains("CN=Corporate inspection", "extraCa");
            assertThat(of(trusted, "tls").result()).isEqualTo(Result.WARN);
            assertThat(of(trusted, "tls").detail()).contains("ended on the way by CN=Corporate inspection");
            assertThat(of(trusted, "websocket").result()).isEqualTo(Result.OK);
            assertThat(of(trusted, "connect").detail()).contains("the proxy opened localhost:");
        }
    }

    @Test
    void aProxysRefusalEndsTheChecks() throws Exception {
        servingCulvert();
        try (TestProxy proxy = TestProxy.http("me", "right")) {
            Map<String, Finding> findings = check(by(proxy), null, NOT_AT_ALL);

            assertThat(findings).containsOnlyKeys("proxy", "dns", "connect");
            assertThat(of(findings, "proxy").detail()).contains("http://127.0.0.1:" + proxy.port());
            assertThat(of(findings, "connect").result()).isEqualTo(Result.FAILED);
            assertThat(of(findings, "connect").detail()).contains("(407)");
        }
    }

    @Test
    void anUpgradeThatWasStrippedOnTheWayIsToldFromAnotherServersAnswer() {
        serving(426, "application/problem+json", UNAUTHORIZED.replace("unauthorized", "upgrade-required"),
                Instant.now(), Duration.ofMinutes(1));
        Finding stripped = of(check(null, null, NOT_AT_ALL), "websocket");
        closeServer();
        serving(200, "text/html", "<html>portal</html>", Instant.now(), Duration.ofMinutes(1));
        Finding portal = of(check(null, null, NOT_AT_ALL), "websocket");

        assertThat(stripped.result()).isEqualTo(Result.FAILED);
        assertThat(stripped.detail()).contains("without its Upgrade", "1.1 stripper");
        assertThat(portal.result()).isEqualTo(Result.FAILED);
        assertThat(portal.detail()).contains("200 from something that is no Culvert server");
    }

    @Test
    void aClockThatIsOffIsMeasured() {
        serving(401, "application/problem+json", UNAUTHORIZED, Instant.now().minusSeconds(60),
                Duration.ofMinutes(1));
        Finding little = of(check(null, null, NOT_AT_ALL), "clock");
        closeServer();
        serving(401, "application/problem+json", UNAUTHORIZED, Instant.now().plusSeconds(3600),
                Duration.ofMinutes(1));
        Finding much = of(check(null, null, NOT_AT_ALL), "clock");

        assertThat(little.result()).isEqualTo(Result.WARN);
        assertThat(little.detail()).contains("ahead of the server's");
        assertThat(much.result()).isEqualTo(Result.FAILED);
        assertThat(much.detail()).contains("behind the server's");
    }

    @Test
    void aSilentConnectionThatIsCutOnTheWayIsToldFromOneThatTheServerCloses() throws Exception {
        serving(401, "application/problem+json", UNAUTHORIZED, Instant.now(), Duration.ofSeconds(1));
        Finding closed = of(check(null, null, Duration.ofSeconds(20)), "idle");
        closeServer();
        servingCulvert();
        try (TestProxy proxy = TestProxy.http(null, null).cuttingAfter(Duration.ofSeconds(1))) {
            Finding cut = of(check(by(proxy), null, Duration.ofSeconds(20)), "idle");

            assertThat(cut.result()).isEqualTo(Result.FAILED);
            assertThat(cut.detail()).contains("by something on the way");
        }
        assertThat(closed.result()).isEqualTo(Result.OK);
        assertThat(closed.detail()).contains("until the server closed it");
    }

    @Test
    void aPortOfPlainHttpIsNoTunnels() {
        server = HttpServer.create().host("127.0.0.1").port(0).bindNow();

        Map<String, Finding> findings = check(null, null, NOT_AT_ALL);

        assertThat(findings.get("tls")).isNotNull()
                .satisfies(tls -> assertThat(tls.result()).isEqualTo(Result.FAILED))
                .satisfies(tls -> assertThat(tls.detail()).startsWith("no TLS is spoken there: "));
    }

    @Test
    void aServerThatIsNotThereEndsTheChecks() {
        servingCulvert();
        String address = "wss://127.0.0.1:" + Objects.requireNonNull(server).port();
        closeServer();

        Map<String, Finding> findings = check(address, null, null, NOT_AT_ALL);

        assertThat(findings).containsOnlyKeys("proxy", "dns", "connect");
        assertThat(of(findings, "connect").result()).isEqualTo(Result.FAILED);
        assertThat(of(findings, "connect").detail()).contains("refused");
    }
}
