package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateAuthorityTest {
    private static final ClientIdentity ACME = new ClientIdentity("acme", "prod", "r4nd0m_Id-1");
    private final TestClock clock = new TestClock();
    private final CertificateAuthority ca = CertificateAuthority.create("Culvert test CA", clock);
    @TempDir
    private Path folder;

    @Test
    void authorityMaySignLeavesOnly() {
        X509Certificate certificate = ca.certificate();

        assertThat(certificate.getBasicConstraints()).isZero();
        assertThat(certificate.getKeyUsage()).containsExactly(false, false, false, false, false, true, true,
                false,
                false);
        assertThat(certificate.getCriticalExtensionOIDs()).containsExactlyInAnyOrder("2.5.29.15",
                "2.5.29.19");
        assertThat(certificate.getSigAlgName()).isEqualTo("SHA256withECDSA");
    }

    @Test
    void authorityIsReadBackAndIssues() throws Exception {
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));

        CertificateAuthority read = CertificateAuthority.load(folder.resolve("ca.crt"),
                folder.resolve("ca.key"));

        assertThat(read.certificate()).isEqualTo(ca.certificate());
        read.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1))
                .leaf()
                .verify(ca.certificate().getPublicKey());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("ca.key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void leafIsNoAuthority() {
        ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1))
                .writeTo(folder.resolve("x.crt"),
                        folder.resolve("x.key"));

        assertThatThrownBy(() -> CertificateAuthority.load(folder.resolve("x.crt"), folder.resolve("x.key")))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining(folder.resolve("x.crt") + ": ")
                .hasMessageContaining("may not sign");
    }

    @Test
    void listenerCarriesItsNamesAndTheAuthority() throws Exception {
        TlsMaterial material = ca.issueServer(List.of("culvert.localhost", "*.culvert.localhost"),
                List.of(InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("::1")),
                Duration.ofDays(90));

        assertThat(material.chain()).containsExactly(material.leaf(), ca.certificate());
        assertThat(material.leaf().getSubjectAlternativeNames()).containsExactlyInAnyOrder(
                List.of(2, "culvert.localhost"), List.of(2, "*.culvert.localhost"), List.of(7, "127.0.0.1"),
                List.of(7, "0:0:0:0:0:0:0:1"));
        assertThat(material.leaf().getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
        assertThat(material.leaf().getBasicConstraints()).isEqualTo(-1);
        assertThat(material.leaf().getNotBefore()).isEqualTo(clock.instant().minusSeconds(300));
        assertThat(material.leaf().getNotAfter()).isEqualTo(clock.instant().plus(Duration.ofDays(90)));
    }

    @Test
    void clientCarriesItsIdentityAndNothingOfItsRequest() throws Exception {
        CertificateRequest request = CertificateRequest.create(KeyPairs.generate());

        X509Certificate certificate = ca.issueClient(request, ACME, Duration.ofHours(24));

        assertThat(ClientIdentity.from(certificate)).isEqualTo(ACME);
        assertThat(certificate.getSubjectAlternativeNames())
                .containsExactly(List.of(6, "urn:culvert:runtime:acme:prod:r4nd0m_Id-1"));
        assertThat(certificate.getSubjectX500Principal()).hasToString("CN=acme-prod");
        assertThat(certificate.getPublicKey()).isEqualTo(request.publicKey());
        assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.2");
    }

    @Test
    void nothingOutlivesTheAuthority() {
        clock.move(Duration.ofDays(3649));

        X509Certificate leaf = ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(90)).leaf();

        assertThat(leaf.getNotAfter()).isEqualTo(ca.certificate().getNotAfter());
    }

    @Test
    void serialNumbersDoNotRepeatAndFitTheStandard() {
        var serials = Stream
                .generate(() -> ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1)).leaf())
                .limit(100)
                .map(X509Certificate::getSerialNumber)
                .toList();

        assertThat(serials).doesNotHaveDuplicates()
                .allMatch(serial -> serial.signum() > 0 && serial.bitLength() == 127);
    }

    @Test
    void impossibleNamesAreRefused() {
        for (String name : List.of("", "a b", "a..b", "*.*.b", "x*.b", "ä.example", "a/b")) {
            assertThatThrownBy(() -> ca.issueServer(List.of(name), List.of(), Duration.ofDays(1)))
                    .isInstanceOf(CertsException.class)
                    .hasMessageContaining("DNS name");
        }
        assertThatThrownBy(() -> ca.issueServer(List.of(), List.of(), Duration.ofDays(1)))
                .isInstanceOf(CertsException.class);
        assertThatThrownBy(() -> ca.issueServer(List.of("a"), List.of(), Duration.ZERO))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("life");
    }

    @Test
    void opensslVerifiesWhatIsIssued() throws Exception {
        assumeTrue(Openssl.available());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("tunnels.example.com"), List.of(InetAddress.getLoopbackAddress()),
                Duration.ofDays(1))
                .writeTo(folder.resolve("server.crt"), folder.resolve("server.key"));
        X509Certificate client = ca.issueClient(CertificateRequest.create(KeyPairs.generate()), ACME,
                Duration.ofDays(1));
        PemFiles.writeCertificates(folder.resolve("client.crt"), List.of(client));

        assertThat(Openssl.run(folder, "verify -x509_strict -CAfile ca.crt -purpose sslserver"
                + " -verify_hostname tunnels.example.com server.crt")).contains("OK");
        assertThat(Openssl.run(folder,
                "verify -x509_strict -CAfile ca.crt -purpose sslserver -verify_ip 127.0.0.1 server.crt"))
                .contains("OK");
        assertThat(Openssl.run(folder, "verify -x509_strict -CAfile ca.crt -purpose sslclient client.crt"))
                .contains("OK");
        assertThat(Openssl.run(folder, "ec -in server.key -noout -check")).contains("valid");
    }
}
