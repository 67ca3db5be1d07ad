package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PermittedNamesTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final TestClock clock = new TestClock();
    private final CertificateAuthority bound = CertificateAuthority.createFor(
            List.of("t.example", "localhost"), List.of(InetAddress.ofLiteral("127.0.0.1")), "bound", clock);

    @TempDir
    private Path folder;

    @Test
    void aBoundAuthoritySignsItsNamesOnly() {
        assertThat(bound.certificate().getCriticalExtensionOIDs()).contains("2.5.29.30");
        for (String outside : List.of("shop.example", "xt.example", "*.example")) {
            assertThatThrownBy(() -> bound.issueServer(List.of(outside), List.of(), DAY))
                    .isInstanceOf(CertsException.class)
                    .hasMessageStartingWith(outside + ": the authority may not sign this name");
        }
        for (String outside : List.of("127.0.0.2", "::1")) {
            assertThatThrownBy(
                    () -> bound.issueServer(List.of(), List.of(InetAddress.ofLiteral(outside)), DAY))
                    .isInstanceOf(CertsException.class)
                    .hasMessageContaining(": the authority may not sign this name");
        }
    }

    @Test
    void aSuccessorIsBoundAsTheOneBefore() {
        assertThatThrownBy(() -> bound.successor("next").issueServer(List.of("shop.example"), List.of(), DAY))
                .isInstanceOf(CertsException.class);
        assertThat(CertificateAuthority.create("free", clock)
                .successor("next")
                .issueServer(List.of("shop.example"), List.of(), DAY)).isNotNull();
    }

    @Test
    void whatABoundAuthoritySignsIsBelieved() throws Exception {
        assumeTrue(Openssl.available());
        bound.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        bound.issueServer(List.of("t.example", "*.t.example", "a.b.t.example", "localhost"),
                List.of(loopback), DAY)
                .writeTo(folder.resolve("names.crt"), folder.resolve("names.key"));
        bound.issueServer(List.of(), List.of(loopback), DAY)
                .writeTo(folder.resolve("address.crt"), folder.resolve("address.key"));
        X509Certificate client = bound.issueClient(CertificateRequest.create(KeyPairs.generate()),
                new ClientIdentity("acme", "prod", "id-1"), DAY);
        PemFiles.writeCertificates(folder.resolve("client.crt"), List.of(client));

        for (String each : List.of("names.crt", "address.crt")) {
            Openssl.run(folder, "verify -x509_strict -purpose sslserver -CAfile ca.crt " + each);
        }
        Openssl.run(folder, "verify -x509_strict -purpose sslclient -CAfile ca.crt client.crt");
        assertThat(ClientCertificates.verify(List.of(client), bound.authorities(), clock.instant()))
                .isInstanceOf(ClientCertificates.Verdict.Valid.class);
    }
}
