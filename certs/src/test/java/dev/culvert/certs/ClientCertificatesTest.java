package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.ClientCertificates.Verdict;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClientCertificatesTest {
    private static final ClientIdentity ACME = new ClientIdentity("acme", "prod", "id-1");
    private final TestClock clock = new TestClock();
    private final CertificateAuthority ca = CertificateAuthority.create("Culvert test CA", clock);
    private final List<X509Certificate> trusted = List.of(ca.certificate());

    @Test
    void ourOwnIsValid() {
        assertThat(verdict(client(ca))).isEqualTo(new Verdict.Valid(ACME));
    }

    @Test
    void anyOfSeveralAuthoritiesWillDo() {
        CertificateAuthority next = CertificateAuthority.create("Culvert test CA", clock);

        Verdict verdict = ClientCertificates.verify(List.of(client(ca)),
                List.of(next.certificate(), ca.certificate()), clock.instant());

        assertThat(verdict).isEqualTo(new Verdict.Valid(ACME));
    }

    @Test
    void noneIsMissing() {
        assertThat(ClientCertificates.verify(List.of(), trusted, clock.instant()))
                .isEqualTo(new Verdict.Missing());
    }

    @Test
    void endedOneIsExpiredAndStillNamesItsRuntime() {
        X509Certificate certificate = client(ca);
        clock.move(Duration.ofHours(25));

        assertThat(verdict(certificate))
                .isEqualTo(new Verdict.Expired(ACME, certificate.getNotAfter().toInstant()));
    }

    @Test
    void oneFromTheFutureIsUntrusted() {
        X509Certificate certificate = client(ca);
        clock.move(Duration.ofMinutes(-6));

        assertThat(reason(certificate)).contains("not valid before");
    }

    @Test
    void anotherAuthorityOfTheSameNameIsUntrusted() {
        CertificateAuthority impostor = CertificateAuthority.create("Culvert test CA", clock);

        assertThat(reason(client(impostor))).contains("not issued by an authority");
    }

    @Test
    void anEndedCertificateOfAnotherAuthorityIsUntrusted() {
        X509Certificate certificate = client(CertificateAuthority.create("Culvert test CA", clock));
        clock.move(Duration.ofHours(25));

        assertThat(reason(certificate)).contains("not issued by an authority");
    }

    @Test
    void aListenersCertificateIsUntrusted() {
        TlsMaterial server = ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1));

        assertThat(reason(server.leaf())).contains("not for clients");
    }

    @Test
    void theAuthorityItselfIsUntrusted() {
        assertThat(reason(ca.certificate())).contains("not for clients");
    }

    @Test
    void aCertificateThatNamesNoRuntimeIsUntrusted() {
        X509Certificate certificate = Forgery.client(ca, clock, "urn:other:thing");

        assertThat(reason(certificate)).contains("URI name");
    }

    @Test
    void aCertificateThatNamesTwoRuntimesIsUntrusted() {
        X509Certificate certificate = Forgery.client(ca, clock, ACME.uri().toString(),
                new ClientIdentity("evil", "prod", "id-2").uri().toString());

        assertThat(reason(certificate)).contains("2 URI names");
    }

    @Test
    void withoutAuthoritiesNobodyIsTrusted() {
        Verdict verdict = ClientCertificates.verify(List.of(client(ca)), List.of(), clock.instant());

        assertThat(verdict).isEqualTo(new Verdict.Untrusted("no authority is trusted here"));
    }

    private X509Certificate client(CertificateAuthority issuer) {
        return issuer.issueClient(CertificateRequest.create(KeyPairs.generate()), ACME, Duration.ofHours(24));
    }

    private Verdict verdict(X509Certificate certificate) {
        return ClientCertificates.verify(List.of(certificate), trusted, clock.instant());
    }

    private String reason(X509Certificate certificate) {
        assertThat(verdict(certificate)).isInstanceOf(Verdict.Untrusted.class);
        return ((Verdict.Untrusted) verdict(certificate)).reason();
    }
}
