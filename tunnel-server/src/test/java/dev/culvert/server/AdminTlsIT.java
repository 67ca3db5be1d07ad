package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The admin listener with a certificate of its own. */
class AdminTlsIT {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final Duration DAY = Duration.ofDays(1);

    @TempDir
    private Path folder;

    private final CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());

    private void issue() {
        ca.issueServer(List.of("admin.example"), List.of(), DAY)
                .writeTo(folder.resolve("a.crt"), folder.resolve("a.key"));
    }

    @Test
    void certificateIsReadAgainWhenItChanges() throws Exception {
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        issue();
        var tls = new ServerConfig.Tls(folder.resolve("a.crt"), folder.resolve("a.key"));
        TunnelServer server = await(TunnelServer.start(new ServerConfig(
                new ServerConfig.Edge(ANY, "t.example", tls, List.of(), false, CallerLimits.defaults(),
                        List.of(), false, false, true),
                new ServerConfig.Tunnel(ANY, tls, false, false, List.of(), false,
                        new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), DAY), false),
                new ServerConfig.Admin(ANY, folder.resolve("admin.token"), List.of("admin.example"), tls),
                folder.resolve("data"), new ServerConfig.Store(Duration.ofSeconds(10)))));
        try {
            BigInteger first = serial(server);
            issue();

            Awaitility.await().until(() -> !serial(server).equals(first));
        } finally {
            server.stop(Duration.ZERO).block(Duration.ofSeconds(20));
        }
    }

    /** The serial number of the certificate that serves the log-in. */
    private BigInteger serial(TunnelServer server) throws Exception {
        try (var socket = (SSLSocket) trusting().getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), server.adminAddress().port())) {
            socket.getOutputStream()
                    .write("GET /login HTTP/1.1\r\nHost: admin.example\r\nConnection: close\r\n\r\n".getBytes(
                            StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8)).startsWith("HTTP/1.1 200 ");
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
        }
    }

    private SSLContext trusting() throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null);
        try (var file = Files.newInputStream(folder.resolve("ca.crt"))) {
            trusted.setCertificateEntry("ca",
                    CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
