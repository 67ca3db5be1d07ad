package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An authority with others beside it, and what clients believe of that. */
class VouchedAuthoritiesTest {
    private final CertificateAuthority old = CertificateAuthority.create("old", Clock.systemUTC());
    private final CertificateAuthority next = CertificateAuthority.create("next", Clock.systemUTC());
    private final CertificateAuthority stranger = CertificateAuthority.create("stranger", Clock.systemUTC());
    private final X509Certificate issued = certificate(old);
    @TempDir
    private Path folder;
    private CertificateAuthority both;

    @BeforeEach
    void write() {
        both = bundle(List.of(old.certificate(), next.certificate()), old);
    }

    private static X509Certificate certificate(CertificateAuthority by) {
        return by.issueClient(CertificateRequest.create(KeyPairs.generate()),
                new ClientIdentity("acme", "prod", "id"), Duration.ofHours(1));
    }

    private CertificateAuthority bundle(List<X509Certificate> trusted, CertificateAuthority signer) {
        Path file = folder.resolve("ca.crt");
        signer.writeTo(file, folder.resolve("ca.key"));
        PemFiles.writeCertificates(file, trusted);
        return CertificateAuthority.load(file, folder.resolve("ca.key"));
    }

    @Test
    void theOneWhoseKeyItIsSignsWhereverItStands() {
        CertificateAuthority switched = bundle(List.of(old.certificate(), next.certificate()), next);

        assertThat(both.certificate()).isEqualTo(old.certificate());
        assertThat(switched.certificate()).isEqualTo(next.certificate());
        assertThat(switched.authorities()).containsExactly(next.certificate(), old.certificate());
    }

    @Test
    void filesThatHoldOthersThanAuthoritiesOrTooManyAreRefused() {
        assertThatThrownBy(() -> bundle(List.of(old.certificate(), issued), old))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("may not sign certificates");
        assertThatThrownBy(() -> bundle(List.of(old.certificate()), stranger))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("not the key of a certificate in");
        List<X509Certificate> nine = IntStream.range(0, 8)
                .mapToObj(i -> CertificateAuthority.create("ca " + i, Clock.systemUTC()).certificate())
                .collect(Collectors.toList());
        nine.add(old.certificate());
        assertThatThrownBy(() -> bundle(nine, old)).isInstanceOf(CertsException.class)
                .hasMessageContaining("9 authorities (expected: at most 8)");
    }

    @Test
    void whatABelievedAuthorityVouchesForIsBelieved() {
        VouchedAuthorities told = both.vouch(issued);

        VouchedAuthorities read = VouchedAuthorities.parse(told.pem(), told.proof());

        assertThat(read.verified(issued, List.of(old.certificate())))
                .containsExactly(old.certificate(), next.certificate());
    }

    @Test
    void strangersAreNotBelievedWhoeverTheyNameBesides() {
        CertificateAuthority evil = bundle(List.of(stranger.certificate(), old.certificate()), stranger);

        assertThatThrownBy(() -> evil.vouch(issued).verified(issued, List.of(old.certificate())))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("CN=stranger, which is not believed here");
    }

    @Test
    void aListThatWasChangedOnTheWayOrCameWithAnotherCertificateIsNotBelieved() {
        VouchedAuthorities told = both.vouch(issued);
        var more = new VouchedAuthorities(
                List.of(old.certificate(), next.certificate(), stranger.certificate()),
                told.signature());
        var fewer = new VouchedAuthorities(List.of(old.certificate()), told.signature());
        List<X509Certificate> believed = List.of(old.certificate());

        assertThatThrownBy(() -> more.verified(issued, believed))
                .hasMessageContaining("the signature is not by");
        assertThatThrownBy(() -> fewer.verified(issued, believed))
                .hasMessageContaining("the signature is not by");
        assertThatThrownBy(() -> told.verified(certificate(old), believed))
                .hasMessageContaining("the signature is not by");
        assertThatThrownBy(() -> new VouchedAuthorities(List.of(old.certificate(), issued), told.signature())
                .verified(issued, believed)).hasMessageContaining("certificates of authorities");
    }
}
