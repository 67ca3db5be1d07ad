package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertsCommandTest {
    @TempDir
    Path folder;

    @Test
    void initWritesAnAuthorityAndTwoCertificatesWithTheirNames()
            throws IOException, CertificateParsingException {
        Path certs = folder.resolve("certs");

        Captured captured = Captured.run("certs", "init", "--dir", certs.toString(), "--domain",
                "Tunnels.Example.com");

        assertThat(captured.err()).isEmpty();
        assertThat(captured.exitCode()).isZero();
        assertThat(names(certs, "edge")).containsExactlyInAnyOrder("tunnels.example.com",
                "*.tunnels.example.com");
        assertThat(names(certs, "tunnel")).containsExactlyInAnyOrder("tunnels.example.com", "localhost",
                "127.0.0.1");
        for (String key : List.of("ca.key", "edge.key", "tunnel.key")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(certs.resolve(key))))
                    .isEqualTo("rw-------");
        }
        assertThat(captured.out()).contains("ca.crt").doesNotContain("PRIVATE");
    }

    private static List<Object> names(Path certs, String which) throws CertificateParsingException {
        var leaf = TlsMaterial.load(certs.resolve(which + ".crt"), certs.resolve(which + ".key")).leaf();
        return leaf.getSubjectAlternativeNames().stream().<Object>map(name -> name.get(1)).toList();
    }

    @Test
    void initNeverOverwrites() throws IOException {
        Files.writeString(folder.resolve("edge.key"), "precious");

        Captured captured = Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("already holds edge.key").doesNotContain("\tat ");
        assertThat(folder.resolve("ca.crt")).doesNotExist();
        assertThat(folder.resolve("edge.key")).hasContent("precious");
    }

    @Test
    void initRefusesWhatIsNoDomain() {
        Captured captured = Captured.run("certs", "init", "--dir", folder.toString(), "--domain",
                "not a domain");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("--domain: not a domain (expected: a DNS name");
    }

    private Captured issue(String... names) {
        List<String> all = new ArrayList<>(List.of("certs", "issue", "--dir", folder.toString()));
        all.addAll(List.of(names));
        return Captured.run(all.toArray(String[]::new));
    }

    @Test
    void whatIsNotPermittedIsNotIssued() {
        assertThat(Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test", "--permit",
                "shop.example", "--permit", "10.0.0.5").exitCode()).isZero();

        assertThat(issue("www.shop.example", "10.0.0.5", "a.x.test").exitCode()).isZero();
        for (int rotated = 0; rotated < 2; rotated++) {
            Captured outside = issue("other.example");
            assertThat(outside.exitCode()).isEqualTo(64);
            assertThat(outside.err()).contains("other.example: the authority may not sign this name")
                    .doesNotContain("\tat ");
            assertThat(folder.resolve("other.example.crt")).doesNotExist();
            assertDone("--authority", "begin");
            assertDone("--authority", "change");
            assertDone();
            assertDone("--authority", "finish");
        }
    }

    @Test
    void anAuthorityPermitsEveryNameUnlessTold() {
        Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test");

        assertThat(issue("shop.example").exitCode()).isZero();
    }

    @Test
    void aWildcardIsNoPermittedDomain() {
        Captured captured = Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test",
                "--permit", "*.shop.example");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("(expected: shop.example, which means all below, too)");
        assertThat(folder.resolve("ca.crt")).doesNotExist();
    }

    @Test
    void initSaysWhichOptionIsMissing() {
        Captured captured = Captured.run("certs", "init", "--domain", "x.test");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("--dir");
    }

    private Captured renew(String... more) {
        List<String> all = new ArrayList<>(List.of("certs", "renew", "--dir", folder.toString()));
        all.addAll(List.of(more));
        return Captured.run(all.toArray(String[]::new));
    }

    private void assertRefused(String step, String reason) {
        Captured captured = renew("--authority", step);
        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains(reason).doesNotContain("\tat ");
    }

    private void assertDone(String... more) {
        Captured captured = renew(more);
        assertThat(captured.exitCode()).as(captured.err()).isZero();
        assertThat(captured.out()).doesNotContain("PRIVATE");
    }

    private X509Certificate read(String file) {
        return PemFiles.readCertificates(folder.resolve(file)).getFirst();
    }

    @Test
    void renewKeepsTheNamesAndChangesTheKeys() throws CertificateParsingException {
        Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test");
        X509Certificate edge = read("edge.crt");

        assertDone();

        assertThat(names(folder, "edge")).containsExactlyInAnyOrder("x.test", "*.x.test");
        assertThat(names(folder, "tunnel")).containsExactlyInAnyOrder("x.test", "localhost", "127.0.0.1");
        assertThat(read("edge.crt").getPublicKey()).isNotEqualTo(edge.getPublicKey());
    }

    @Test
    void anAuthorityIsReplacedInThreeStepsWhichKeepTheirOrder() throws Exception {
        Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test");
        X509Certificate old = read("ca.crt");
        assertRefused("change", "--authority begin first");

        assertDone("--authority", "begin");

        List<X509Certificate> both = PemFiles.readCertificates(folder.resolve("ca.crt"));
        X509Certificate next = both.getLast();
        assertThat(both).containsExactly(old, next);
        assertThat(next.getSubjectX500Principal().getName()).startsWith("CN=Culvert CA for x.test since 2");
        assertRefused("begin", "trusted already");
        assertRefused("finish", "--authority change first");
        assertThat(
                CertificateAuthority.load(folder.resolve("ca.crt"), folder.resolve("ca.key")).certificate())
                .isEqualTo(old);

        assertDone("--authority", "change");

        assertThat(PemFiles.readCertificates(folder.resolve("ca.crt"))).containsExactly(next, old);
        read("tunnel.crt").verify(next.getPublicKey());
        read("edge.crt").verify(old.getPublicKey());
        assertThat(folder.resolve("next-ca.key")).doesNotExist();
        for (String key : List.of("ca.key", "previous-ca.key", "tunnel.key")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(key))))
                    .isEqualTo("rw-------");
        }
        assertRefused("begin", "not finished");
        assertRefused("finish", "edge.crt is by an authority that ends with this step");

        assertDone();
        assertDone("--authority", "finish");

        assertThat(PemFiles.readCertificates(folder.resolve("ca.crt"))).containsExactly(next);
        assertThat(folder.resolve("previous-ca.key")).doesNotExist();
    }
}
