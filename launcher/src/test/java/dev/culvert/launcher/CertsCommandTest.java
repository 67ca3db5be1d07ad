package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.CertificateParsingException;
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

    @Test
    void initSaysWhichOptionIsMissing() {
        Captured captured = Captured.run("certs", "init", "--domain", "x.test");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("--dir");
    }
}
