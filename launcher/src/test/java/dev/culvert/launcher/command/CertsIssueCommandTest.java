package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.AlternativeNames;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateFacts;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CertsIssueCommandTest {
    @TempDir
    Path folder;

    @BeforeEach
    void makeAnAuthority() {
        CertificateAuthority.create("Culvert CA for x.test", Clock.systemUTC())
                .writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
    }

    private Captured issue(String... more) {
        List<String> all = new ArrayList<>(List.of("certs", "issue", "--dir", folder.toString()));
        all.addAll(List.of(more));
        return Captured.run(all.toArray(String[]::new));
    }

    private void assertRefused(Captured captured, String reason) {
        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains(reason).doesNotContain("\tat ", "Exception");
    }

    @Test
    void aPairForNamesAndAddressesIsWritten() throws Exception {
        Captured captured = issue("Shop.Example.com", "*.example.com", "10.0.0.5", "::1", "10.0.0.5");

        assertThat(captured.exitCode()).as(captured.err()).isZero();
        TlsMaterial pair = TlsMaterial.load(folder.resolve("Shop.Example.com.crt"),
                folder.resolve("Shop.Example.com.key"));
        X509Certificate authority = PemFiles.readCertificates(folder.resolve("ca.crt")).getFirst();
        assertThat(AlternativeNames.of(pair.leaf()).texts()).containsExactly("shop.example.com",
                "*.example.com",
                "10.0.0.5", "0:0:0:0:0:0:0:1");
        assertThat(pair.chain()).containsExactly(pair.leaf(), authority);
        pair.leaf().verify(authority.getPublicKey());
        assertThat(CertificateFacts.of(pair.leaf()).server()).isTrue();
        assertThat(
                PosixFilePermissions
                        .toString(Files.getPosixFilePermissions(folder.resolve("Shop.Example.com.key"))))
                .isEqualTo("rw-------");
        assertThat(captured.out()).contains("Shop.Example.com.crt", "in 397 days").doesNotContain("PRIVATE");
    }

    @Test
    void itLivesAsLongAsItIsTold() {
        assertThat(issue("a.test", "--days", "30").out()).contains("in 30 days");
        assertThat(issue("b.test", "--life", "12h").out()).contains("in 12 hours");
        assertThat(issue("c.test", "--days", "500").out()).contains("browsers refuse");
        assertThat(issue("d.test", "--days", "3650").out()).doesNotContain("when its authority ends");

        assertThat(end("a.test")).isBetween(Instant.now().plus(Duration.ofDays(30)).minusSeconds(60),
                Instant.now().plus(Duration.ofDays(30)));
    }

    private Instant end(String name) {
        return PemFiles.readCertificates(folder.resolve(name + ".crt")).getFirst().getNotAfter().toInstant();
    }

    @Test
    void itEndsWithItsAuthority() {
        oldAuthority(Duration.ofDays(3600));

        assertThat(issue("a.test").out()).contains("when its authority ends");
        assertThat(end("a.test"))
                .isEqualTo(PemFiles.readCertificates(folder.resolve("ca.crt"))
                        .getFirst()
                        .getNotAfter()
                        .toInstant());
    }

    @Test
    void anAuthorityThatHasEndedIssuesNothing() {
        oldAuthority(Duration.ofDays(3651));

        assertRefused(issue("a.test"), "ca.crt: the authority ended at ");
        assertThat(folder.resolve("a.test.crt")).doesNotExist();
    }

    private void oldAuthority(Duration age) {
        CertificateAuthority.create("old", Clock.offset(Clock.systemUTC(), age.negated()))
                .writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x.crt", "x.key"})
    void nothingIsOverwrittenButByForce(String present) throws IOException {
        Files.writeString(folder.resolve(present), "precious");
        String base = folder.resolve("x").toString();

        assertRefused(issue("a.test", "--out", base), present + " is there already");
        assertThat(folder.resolve(present)).hasContent("precious");
        assertThat(folder.resolve(present.equals("x.crt") ? "x.key" : "x.crt")).doesNotExist();

        assertThat(issue("a.test", "--out", base, "--force").exitCode()).isZero();
        assertThat(TlsMaterial.load(folder.resolve("x.crt"), folder.resolve("x.key")).chain()).hasSize(2);
    }

    @Test
    void noForceReplacesAnAuthority() throws IOException {
        Files.copy(folder.resolve("ca.crt"), folder.resolve("mine.crt"));
        byte[] key = Files.readAllBytes(folder.resolve("ca.key"));

        for (String name : List.of("ca", "mine", "next-ca", "previous-ca")) {
            assertRefused(issue("a.test", "--out", folder.resolve(name).toString(), "--force"),
                    "an authority's");
        }
        assertThat(folder.resolve("ca.key")).hasBinaryContent(key);
        assertThat(folder.resolve("next-ca.key")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"not a name", "../x", "a..b", "a-.test", "*.*.test", "1.2.3", "256.1.1.1",
            "fe80::1%eth0",
            "http://a.test", "x:y"})
    void whatIsNoNameIsRefused(String name) throws IOException {
        assertRefused(issue("a.test", name), name + ": no name of a listener");
        try (var files = Files.list(folder)) {
            assertThat(files).hasSize(2);
        }
    }

    @Test
    void wrongUsageIsSaid() {
        assertRefused(issue(), "NAME");
        assertRefused(issue("a.test", "--days", "0"), "--days: 0 (expected: 1 to 3650)");
        assertRefused(issue("a.test", "--days", "-1"), "--days: -1 (expected");
        assertRefused(issue("a.test", "--life", "3651d"), "--life: 3651d (expected");
        assertRefused(issue("a.test", "--life", "soon"), "--life: soon (expected");
        assertRefused(issue("a.test", "--life", "1d", "--days", "1"), "one of them");
        assertRefused(issue("a.test", "--out", folder.resolve("nowhere/x").toString()), "no such folder");
        assertRefused(issue("a.test", "--out", "/"), "--out: /");
        assertRefused(Captured.run("certs", "issue", "--dir", folder.resolve("none").toString(), "a.test"),
                "ca.crt: no such file");
        assertRefused(Captured.run("certs", "issue", "a.test"), "--dir");
    }
}
