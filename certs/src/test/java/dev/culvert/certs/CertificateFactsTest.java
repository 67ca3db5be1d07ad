package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateFactsTest {
    private static final ClientIdentity ACME = new ClientIdentity("acme", "prod", "r4nd0m_Id-1");
    private final TestClock clock = new TestClock();
    private final CertificateAuthority ca = CertificateAuthority.create("Culvert test CA", clock);
    @TempDir
    private Path folder;

    @Test
    void anAuthoritysCertificateIsNothingElse() {
        CertificateFacts facts = CertificateFacts.of(ca.certificate());

        assertThat(facts.authority()).isTrue();
        assertThat(facts.server()).isFalse();
        assertThat(facts.client()).isFalse();
        assertThat(facts.identity()).isNull();
        assertThat(facts.subject()).isEqualTo("CN=Culvert test CA").isEqualTo(facts.issuer());
        assertThat(facts.names().texts()).isEmpty();
        assertThat(facts.key()).isEqualTo("EC P-256");
    }

    @Test
    void aListenersCertificateHasItsNames() {
        CertificateFacts facts = CertificateFacts.of(ca.issueServer(List.of("x.test", "*.x.test"),
                List.of(InetAddress.ofLiteral("10.0.0.5"), InetAddress.ofLiteral("::1")), Duration.ofDays(90))
                .leaf());

        assertThat(facts.server()).isTrue();
        assertThat(facts.authority() || facts.client()).isFalse();
        assertThat(facts.names().texts()).containsExactly("x.test", "*.x.test", "10.0.0.5",
                "0:0:0:0:0:0:0:1");
        assertThat(facts.issuer()).isEqualTo("CN=Culvert test CA");
        assertThat(facts.notAfter()).isEqualTo(clock.instant().plus(Duration.ofDays(90)));
    }

    @Test
    void aClientsCertificateNamesItsRuntime() {
        X509Certificate client = ca.issueClient(CertificateRequest.create(KeyPairs.generate()), ACME,
                Duration.ofDays(1));

        CertificateFacts facts = CertificateFacts.of(client);

        assertThat(facts.client()).isTrue();
        assertThat(facts.server()).isFalse();
        assertThat(facts.identity()).isEqualTo(ACME);
        assertThat(facts.names().uris()).containsExactly(ACME.uri().toString());
    }

    @Test
    void fingerprintSerialAndKeysOfOthersAreAsOpensslPrintsThem() throws Exception {
        assumeTrue(Openssl.available());
        for (String kind : List.of("rsa:2048", "ed25519")) {
            Openssl.run(folder, "req -x509 -newkey " + kind + " -nodes -subj /CN=x.test -days 1 -keyout x.key"
                    + " -out x.crt");

            CertificateFacts facts = CertificateFacts
                    .of(PemFiles.readCertificates(folder.resolve("x.crt")).getFirst());

            assertThat(facts.key()).isEqualTo(kind.equals("ed25519") ? "Ed25519" : "RSA 2048 bits");
            String printed = Openssl.run(folder, "x509 -in x.crt -noout -fingerprint -sha256 -serial");
            assertThat(printed).contains("=" + facts.sha256());
            assertThat(printed.toLowerCase(Locale.ROOT)).contains(facts.serial());
        }
    }
}
