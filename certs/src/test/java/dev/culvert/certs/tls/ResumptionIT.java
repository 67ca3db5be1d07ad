package dev.culvert.certs.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.TestClock;
import dev.culvert.certs.TlsLoopback;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslProvider;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Sessions that are resumed: the server shows no certificate again, so that the client judges none. */
@ParameterizedClass
@MethodSource("engines")
class ResumptionIT {
    private static final Duration DAY = Duration.ofDays(1);
    private static final char[] NO_PASSWORD = {};

    private final SslProvider engine;
    @TempDir
    private Path folder;
    private final TestClock clock = new TestClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final AtomicInteger judged = new AtomicInteger();
    private CertificateFiles files;
    private SSLContext client;

    ResumptionIT(SslProvider engine) {
        this.engine = engine;
    }

    static List<SslProvider> engines() {
        return OpenSsl.isAvailable()
                ? List.of(SslProvider.OPENSSL, SslProvider.JDK)
                : List.of(SslProvider.JDK);
    }

    @BeforeEach
    void make() throws Exception {
        files = new CertificateFiles(folder.resolve("t.crt"), folder.resolve("t.key"));
        write();
        KeyPair keys = KeyPairs.generate();
        X509Certificate certificate = ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "prod", "id-1"), DAY);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("client", keys.getPrivate(), NO_PASSWORD, new Certificate[]{certificate});
        KeyManagerFactory identity = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        identity.init(store, NO_PASSWORD);
        client = SSLContext.getInstance("TLS");
        client.init(identity.getKeyManagers(), new TrustManager[]{new Judge()}, null);
    }

    private void write() {
        ca.issueServer(List.of("t.example"), List.of(), DAY).writeTo(files.certificate(), files.key());
    }

    private ListenerTls load(Function<TlsMaterial, SslContext> contexts) {
        return ListenerTls.load("test", List.of(files), contexts, clock);
    }

    private SslContext edge(TlsMaterial material) {
        return TlsContexts.edge(material, List.of("http/1.1"), TlsContexts.Offer.of(TlsContexts.VERSIONS),
                engine);
    }

    private SslContext tunnel(TlsMaterial material) {
        return TlsContexts.tunnel(material, List.of(ca.certificate()), List.of("http/1.1"),
                TlsContexts.Offer.of(TlsContexts.TLS13),
                engine);
    }

    /** What came of a handshake. */
    private record Shaken(boolean resumed, List<X509Certificate> shown) {}

    private Shaken shake(TlsLoopback listener, String version) throws Exception {
        int before = judged.get();
        try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                SSLSocket socket = (SSLSocket) client.getSocketFactory()
                        .createSocket(plain, "t.example", 443, true)) {
            socket.setEnabledProtocols(new String[]{version});
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write('?');
            assertThat(socket.getInputStream().read()).isEqualTo('?'); // stands behind the tickets
        }
        TlsLoopback.Accepted accepted = listener.accepted();
        assertThat(accepted.version()).isEqualTo(version);
        return new Shaken(judged.get() == before, accepted.shown());
    }

    @Test
    void aSecondHandshakeIsResumed() throws Exception {
        try (var listener = new TlsLoopback(load(this::edge).context(null))) {
            for (String version : List.of("TLSv1.3", "TLSv1.2")) {
                assertThat(shake(listener, version).resumed()).isFalse();
                assertThat(shake(listener, version).resumed()).as(version).isTrue();
            }
        }
    }

    @Test
    void aResumedSessionStillTellsTheClientsCertificate() throws Exception {
        try (var listener = new TlsLoopback(load(this::tunnel).context(null))) {
            Shaken first = shake(listener, "TLSv1.3");
            Shaken second = shake(listener, "TLSv1.3");

            assertThat(second.resumed()).isTrue();
            assertThat(second.shown()).isNotEmpty().isEqualTo(first.shown());
            assertThat(ClientCertificates.verify(second.shown(), List.of(ca.certificate()), clock.instant()))
                    .isInstanceOf(ClientCertificates.Verdict.Valid.class);
        }
    }

    @Test
    void aTicketOutlivesANewCertificate() throws Exception {
        assumeTrue(engine == SslProvider.OPENSSL);
        ListenerTls tls = load(this::edge);
        try (var listener = new TlsLoopback(() -> tls.context(null))) {
            shake(listener, "TLSv1.3");

            write();
            tls.look();

            assertThat(shake(listener, "TLSv1.3").resumed()).isTrue();
        }
    }

    @Test
    void aTicketEndsWithItsKey() throws Exception {
        assumeTrue(engine == SslProvider.OPENSSL);
        ListenerTls tls = load(this::edge);
        try (var listener = new TlsLoopback(() -> tls.context(null))) {
            shake(listener, "TLSv1.3");
            for (int i = 1; i < TicketKeys.KEPT; i++) {
                age(tls);
            }
            assertThat(shake(listener, "TLSv1.3").resumed()).as("one of the last keys").isTrue();

            for (int i = 0; i < TicketKeys.KEPT; i++) {
                age(tls);
            }

            assertThat(shake(listener, "TLSv1.3").resumed()).as("a key that is gone").isFalse();
        }
    }

    private void age(ListenerTls tls) {
        clock.move(TicketKeys.LIFE);
        tls.look();
    }

    private final class Judge extends X509ExtendedTrustManager {
        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
            judged.incrementAndGet();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine sslEngine) {
            judged.incrementAndGet();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            judged.incrementAndGet();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine sslEngine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
