package dev.culvert.certs.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyPin;
import dev.culvert.certs.TestClock;
import dev.culvert.certs.TlsLoopback;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Handshakes over loopback sockets, every pair of engines. */
@ParameterizedClass
@MethodSource("engines")
class TlsContextsIT {
    private static final ClientIdentity ACME = new ClientIdentity("acme", "prod", "id-1");
    private static final Duration DAY = Duration.ofDays(1);
    private static final TestClock CLOCK = new TestClock();
    private static final CertificateAuthority CA = CertificateAuthority.create("Culvert test CA", CLOCK);
    private static final TlsMaterial SERVER = CA.issueServer(
            List.of("culvert.localhost", "*.culvert.localhost"),
            List.of(InetAddress.ofLiteral("127.0.0.1")), DAY);
    private static final KeyPin PIN = KeyPin.of(CA.certificate());

    private static final TlsContexts.Offer ALL = TlsContexts.Offer.of(TlsContexts.VERSIONS);

    private final SslProvider serverEngine;
    private final SslProvider clientEngine;

    TlsContextsIT(SslProvider serverEngine, SslProvider clientEngine) {
        this.serverEngine = serverEngine;
        this.clientEngine = clientEngine;
    }

    static Stream<Arguments> engines() {
        List<SslProvider> engines = OpenSsl.isAvailable()
                ? List.of(SslProvider.OPENSSL, SslProvider.JDK)
                : List.of(SslProvider.JDK);
        return engines.stream()
                .flatMap(server -> engines.stream()
                        .map(client -> Arguments.of(server, client)));
    }

    @Test
    void boringSslIsThereOnLinux() {
        assumeTrue("amd64".equals(System.getProperty("os.arch"))
                && "Linux".equals(System.getProperty("os.name")));

        assertThat(TlsContexts.engine()).contains("BoringSSL");
    }

    @Test
    void serverOfATrustedAuthorityIsAcceptedByNameWildcardAndAddress() throws Throwable {
        try (var listener = new TlsLoopback(edge(SERVER))) {
            SslContext client = client(ServerTrust.inAuthorities(List.of(CA.certificate())), null);

            assertThat(listener.dial(client, "culvert.localhost")).isEqualTo("http/1.1");
            assertThat(listener.dial(client, "acme-prod.culvert.localhost")).isEqualTo("http/1.1");
            assertThat(listener.dial(client, "127.0.0.1")).isEqualTo("http/1.1");
            assertThat(listener.accepted().version()).isEqualTo("TLSv1.3");
        }
    }

    @Test
    void serverIsAcceptedByPin() throws Throwable {
        try (var listener = new TlsLoopback(edge(SERVER))) {
            assertThat(listener.dial(client(ServerTrust.inPin(PIN), null), "culvert.localhost"))
                    .isEqualTo("http/1.1");
            assertThat(listener.dial(client(ServerTrust.inPin(PIN).or(ServerTrust.inSystemRoots()), null),
                    "culvert.localhost")).isEqualTo("http/1.1");
        }
    }

    @Test
    void wrongHostIsRefusedHoweverTrusted() {
        ServerTrust all = ServerTrust.inPin(PIN)
                .or(ServerTrust.inAuthorities(List.of(CA.certificate())))
                .or(ServerTrust.inSystemRoots());
        for (String host : List.of("evil.example", "a.b.culvert.localhost", "127.0.0.2")) {
            assertRefused(SERVER, all, host);
        }
        assertRefused(SERVER, all, null);
    }

    @Test
    void unknownAuthorityIsRefused() {
        CertificateAuthority impostor = CertificateAuthority.create("Culvert test CA", CLOCK);
        TlsMaterial server = impostor.issueServer(List.of("culvert.localhost"), List.of(), DAY);

        assertRefused(server, ServerTrust.inAuthorities(List.of(CA.certificate())), "culvert.localhost");
        assertRefused(server, ServerTrust.inPin(PIN), "culvert.localhost");
        assertRefused(server, ServerTrust.inSystemRoots(), "culvert.localhost");
    }

    @Test
    void refusalSaysWhatWasExpected() {
        CertificateAuthority stranger = CertificateAuthority.create("Stranger", CLOCK);
        try (var listener = new TlsLoopback(edge(SERVER))) {
            assertThatThrownBy(() -> listener.dial(client(ServerTrust.inPin(PIN), null), "evil.example"))
                    .hasStackTraceContaining("is not trusted: it is not for evil.example but for ");
            assertThatThrownBy(() -> listener.dial(
                    client(ServerTrust.inAuthorities(List.of(stranger.certificate())), null),
                    "culvert.localhost"))
                    .hasStackTraceContaining("no authority that is trusted here has signed it");
            CertificateAuthority namesake = CertificateAuthority.create("Culvert test CA", CLOCK);
            assertThatThrownBy(() -> listener.dial(
                    client(ServerTrust.inAuthorities(List.of(namesake.certificate())), null),
                    "culvert.localhost"))
                    .hasStackTraceContaining("no authority that is trusted here has signed it");
        }
    }

    @Test
    void refusalTellsTheClocks() {
        X509Certificate leaf = SERVER.leaf();
        var refusal = new CertificateException("any");

        assertThat(TrustRefusal.of(refusal, leaf, "x", leaf.getNotAfter().toInstant().plusSeconds(1)).text())
                .startsWith("it ended at " + leaf.getNotAfter().toInstant());
        assertThat(
                TrustRefusal.of(refusal, leaf, "x", leaf.getNotBefore().toInstant().minusSeconds(1)).text())
                .startsWith("it begins at " + leaf.getNotBefore().toInstant());
        assertThat(TrustRefusal.of(refusal, leaf, "x", leaf.getNotAfter().toInstant()).text())
                .isEqualTo("its chain of certificates does not hold");
    }

    @Test
    void refusalTellsAKeyThatIsNotMadeForIt() {
        assertThat(told("Extended key usage does not permit use for TLS server authentication"))
                .isEqualTo("it is not made for a server, as its key usage says");
        assertThat(told("KeyUsage does not allow digital signatures"))
                .isEqualTo("it is not made for a server, as its key usage says");
        assertThat(told("an unexpected message")).isEqualTo("its chain of certificates does not hold");
    }

    private static String told(String reason) {
        X509Certificate leaf = SERVER.leaf();
        return TrustRefusal
                .of(new CertificateException(reason), leaf, "x", leaf.getNotBefore().toInstant())
                .text();
    }

    @Test
    void refusalNamesTheIssuer() {
        CertificateAuthority proxy = CertificateAuthority.create("Inspecting proxy", CLOCK);
        TlsMaterial server = proxy.issueServer(List.of("culvert.localhost"), List.of(), DAY);
        try (var listener = new TlsLoopback(edge(server))) {
            assertThatThrownBy(() -> listener.dial(client(ServerTrust.inPin(PIN), null), "culvert.localhost"))
                    .hasStackTraceContaining("issued by CN=Inspecting proxy, is not trusted");
        }
    }

    @Test
    void pinnedAuthorityThatVouchesForNothingIsRefused() {
        TlsMaterial stranger = CertificateAuthority.create("Culvert test CA", CLOCK)
                .issueServer(List.of("culvert.localhost"), List.of(), DAY);
        var dressedUp = new TlsMaterial(List.of(stranger.leaf(), CA.certificate()), stranger.key());

        assertRefused(dressedUp, ServerTrust.inPin(PIN), "culvert.localhost");
    }

    @Test
    void pinOfTheLeafIsNoAuthority() {
        assertRefused(SERVER, ServerTrust.inPin(KeyPin.of(SERVER.leaf())), "culvert.localhost");
    }

    @Test
    void pinNeedsTheAuthorityInTheChain() {
        var alone = new TlsMaterial(List.of(SERVER.leaf()), SERVER.key());

        assertRefused(alone, ServerTrust.inPin(PIN), "culvert.localhost");
    }

    @Test
    void expiredServerIsRefused() {
        TestClock past = new TestClock();
        past.move(Duration.ofDays(-30));
        CertificateAuthority old = CertificateAuthority.create("Culvert test CA", past);
        TlsMaterial server = old.issueServer(List.of("culvert.localhost"), List.of(), DAY);

        assertRefused(server, ServerTrust.inPin(KeyPin.of(old.certificate())), "culvert.localhost");
        assertRefused(server, ServerTrust.inAuthorities(List.of(old.certificate())), "culvert.localhost");
    }

    @Test
    void clientCertificateIsNoListener() {
        KeyPair keys = KeyPairs.generate();
        X509Certificate certificate = CA.issueClient(CertificateRequest.create(keys), ACME, DAY);
        var material = new TlsMaterial(List.of(certificate, CA.certificate()), keys.getPrivate());

        assertRefused(material, ServerTrust.inPin(PIN), "127.0.0.1");
    }

    @Test
    void clientWithoutCertificateIsLetIn() throws Throwable {
        assertThat(ClientCertificates.verify(shown(null), List.of(CA.certificate()), CLOCK.instant()))
                .isEqualTo(new ClientCertificates.Verdict.Missing());
    }

    @Test
    void clientWithCertificateIsLetInAndValid() throws Throwable {
        assertThat(ClientCertificates.verify(shown(identity(CA)), List.of(CA.certificate()), CLOCK.instant()))
                .isEqualTo(new ClientCertificates.Verdict.Valid(ACME));
    }

    @Test
    void clientWithExpiredCertificateIsLetInAndNamed(@TempDir Path folder) throws Throwable {
        CA.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        Clock monthAgo = Clock.offset(Clock.systemUTC(), Duration.ofDays(-30));
        CertificateAuthority past = CertificateAuthority.load(folder.resolve("ca.crt"),
                folder.resolve("ca.key"),
                monthAgo);

        assertThat(
                ClientCertificates.verify(shown(identity(past)), List.of(CA.certificate()), CLOCK.instant()))
                .isInstanceOf(ClientCertificates.Verdict.Expired.class);
    }

    @Test
    void clientOfAnotherAuthorityIsLetInAndUntrusted() throws Throwable {
        TlsMaterial stranger = identity(CertificateAuthority.create("Culvert test CA", CLOCK));

        assertThat(ClientCertificates.verify(shown(stranger), List.of(CA.certificate()), CLOCK.instant()))
                .isInstanceOf(ClientCertificates.Verdict.Untrusted.class);
    }

    @Test
    void serverChoosesAmongTheProtocolsOffered() throws Throwable {
        SslContext server = TlsContexts.edge(SERVER, List.of("h2", "http/1.1"), ALL, serverEngine);
        ServerTrust trust = ServerTrust.inPin(PIN);
        try (var listener = new TlsLoopback(server)) {
            assertThat(listener.dial(
                    TlsContexts.client(trust, null, List.of("http/1.1", "h2"), ALL, clientEngine),
                    "127.0.0.1")).isEqualTo("h2");
            assertThat(
                    listener.dial(TlsContexts.client(trust, null, List.of(), ALL, clientEngine), "127.0.0.1"))
                    .isEmpty();
        }
    }

    @Test
    void tls12IsServedAndOlderIsNot() throws Throwable {
        try (var listener = new TlsLoopback(edge(SERVER))) {
            listener.dial(only("TLSv1.2"), "127.0.0.1");
            assertThat(listener.accepted().version()).isEqualTo("TLSv1.2");
            assertThatThrownBy(() -> listener.dial(only("TLSv1.1"), "127.0.0.1"))
                    .isInstanceOf(SSLException.class);
        }
    }

    private SslContext only(String version) throws SSLException {
        return SslContextBuilder.forClient()
                .sslProvider(clientEngine)
                .protocols(version)
                .trustManager(CA.certificate())
                .build();
    }

    private List<X509Certificate> shown(@Nullable TlsMaterial identity) throws Throwable {
        SslContext server = TlsContexts.tunnel(SERVER, List.of(CA.certificate()), List.of("http/1.1"),
                TlsContexts.Offer.of(TlsContexts.TLS13), serverEngine);
        try (var listener = new TlsLoopback(server)) {
            listener.dial(client(ServerTrust.inPin(PIN), identity), "127.0.0.1");
            TlsLoopback.Accepted accepted = listener.accepted();
            assertThat(accepted.failure()).isNull();
            return accepted.shown();
        }
    }

    private static TlsMaterial identity(CertificateAuthority issuer) {
        KeyPair keys = KeyPairs.generate();
        return new TlsMaterial(List.of(issuer.issueClient(CertificateRequest.create(keys), ACME, DAY)),
                keys.getPrivate());
    }

    private SslContext edge(TlsMaterial material) {
        return TlsContexts.edge(material, List.of("http/1.1"), ALL, serverEngine);
    }

    private SslContext client(ServerTrust trust, @Nullable TlsMaterial identity) {
        return TlsContexts.client(trust, identity, List.of("http/1.1"), ALL, clientEngine);
    }

    private void assertRefused(TlsMaterial server, ServerTrust trust, @Nullable String host) {
        try (var listener = new TlsLoopback(edge(server))) {
            assertThatThrownBy(() -> listener.dial(client(trust, null), host))
                    .isInstanceOf(SSLException.class);
        }
    }
}
