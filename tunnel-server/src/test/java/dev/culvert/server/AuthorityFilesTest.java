package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.PemFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuthorityFilesTest {
    private final CertificateAuthority old = CertificateAuthority.create("old", Clock.systemUTC());
    private final CertificateAuthority next = CertificateAuthority.create("next", Clock.systemUTC());
    @TempDir
    private Path folder;
    private AuthorityFiles files;

    @BeforeEach
    void load() {
        old.writeTo(file("ca.crt"), file("ca.key"));
        files = new AuthorityFiles(new ServerConfig.Ca(file("ca.crt"), file("ca.key"), Duration.ofDays(1)),
                Clock.systemUTC());
    }

    private Path file(String name) {
        return folder.resolve(name);
    }

    @Test
    void aChangeIsSeenAtTheNextLook() {
        PemFiles.writeCertificates(file("ca.crt"), List.of(old.certificate(), next.certificate()));
        files.look();
        assertThat(files.get().authorities()).containsExactly(old.certificate(), next.certificate());

        next.writeTo(file("other.crt"), file("ca.key"));
        files.look();
        assertThat(files.get().authorities()).containsExactly(next.certificate(), old.certificate());
    }

    @Test
    void whatCanNotBeUsedLeavesThingsAsTheyAreUntilItCan() throws IOException {
        next.writeTo(file("other.crt"), file("ca.key"));
        files.look();
        assertThat(files.get().certificate()).isEqualTo(old.certificate());
        Files.delete(file("ca.crt"));
        files.look();
        assertThat(files.get().certificate()).isEqualTo(old.certificate());

        PemFiles.writeCertificates(file("ca.crt"), List.of(next.certificate()));
        files.look();
        assertThat(files.get().certificate()).isEqualTo(next.certificate());
    }
}
