package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class PemFilesTest {
    @TempDir
    private Path folder;

    @Test
    void keyIsReadableByItsOwnerOnly() throws IOException {
        Path file = folder.resolve("client.key");
        PrivateKey key = KeyPairs.generate().getPrivate();

        PemFiles.writeKey(file, key);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertThat(PemFiles.readKey(file)).isEqualTo(key);
    }

    @Test
    void replacingAKeyThatAllCouldReadClosesIt() throws IOException {
        Path file = Files.writeString(folder.resolve("client.key"), "old");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));

        PemFiles.writeKey(file, KeyPairs.generate().getPrivate());

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }

    @Test
    void aKeyThatEverybodyMayChangeIsRefused() throws IOException {
        Path file = folder.resolve("client.key");
        PemFiles.writeKey(file, KeyPairs.generate().getPrivate());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--rw-"));

        assertThatThrownBy(() -> PemFiles.readKey(file)).isInstanceOf(CertsException.class)
                .hasMessageContaining("everybody may write")
                .hasMessageContaining("rw-r--rw-");
    }

    @Test
    void aKeyThatEverybodyMayReadIsAWarning() throws IOException {
        var log = new ListAppender<ILoggingEvent>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(PemFiles.class);
        Path file = folder.resolve("warned.key");
        PemFiles.writeKey(file, KeyPairs.generate().getPrivate());
        logger.addAppender(log);
        try {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
            PemFiles.readKey(file);
            assertThat(about(log, file)).isEmpty();
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            PemFiles.readKey(file);
            assertThat(about(log, file)).singleElement()
                    .asString()
                    .contains("a private key is world-readable");
        } finally {
            logger.detachAppender(log);
        }
    }

    /** Other tests read keys at the same time. */
    private static List<String> about(ListAppender<ILoggingEvent> log, Path file) {
        return List.copyOf(log.list)
                .stream()
                .filter(event -> String.valueOf(event.getKeyValuePairs()).contains(file.toString()))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void noTemporaryFileStaysBehind() throws IOException {
        PemFiles.writeKey(folder.resolve("client.key"), KeyPairs.generate().getPrivate());
        Path inTheWay = folder.resolve("folder");
        Files.createDirectories(inTheWay.resolve("inner"));

        assertThatThrownBy(() -> PemFiles.writeKey(inTheWay, KeyPairs.generate().getPrivate()))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("folder");
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> String.valueOf(file.getFileName()))).containsOnly("client.key",
                    "folder");
        }
    }

    @Test
    void chainKeepsItsOrder() {
        CertificateAuthority ca = CertificateAuthority.create("test", new TestClock());
        List<X509Certificate> chain = ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1))
                .chain();

        PemFiles.writeCertificates(folder.resolve("edge.crt"), chain);

        assertThat(PemFiles.readCertificates(folder.resolve("edge.crt"))).isEqualTo(chain).hasSize(2);
    }

    @Test
    void absentFileIsNamed() {
        Path file = folder.resolve("absent.crt");

        assertThatThrownBy(() -> PemFiles.readCertificates(file)).isInstanceOf(CertsException.class)
                .hasMessage(file + ": no such file (expected: PEM certificates)");
    }

    @Test
    void fileOfAnotherKindIsNamedWithWhatWasExpected() throws IOException {
        Path certificate = folder.resolve("ca.crt");
        PemFiles.writeCertificates(certificate,
                List.of(CertificateAuthority.create("test", new TestClock()).certificate()));
        Path binary = Files.write(folder.resolve("binary"), new byte[]{0x30, (byte) 0x82, 0, (byte) 0xff});
        Path key = folder.resolve("ca.key");
        PemFiles.writeKey(key, KeyPairs.generate().getPrivate());

        assertThatThrownBy(() -> PemFiles.readKey(certificate))
                .hasMessageStartingWith(certificate + ": 0 private keys");
        assertThatThrownBy(() -> PemFiles.readCertificates(key))
                .hasMessageStartingWith(key + ": no certificate");
        assertThatThrownBy(() -> PemFiles.readKey(binary))
                .hasMessageStartingWith(binary + ": 0 private keys");
    }

    @Test
    void damagedKeyIsNeverQuoted() throws IOException {
        Path file = folder.resolve("client.key");
        String secret = Pem.text(KeyPairs.generate().getPrivate());
        Files.writeString(file, secret.replace("MEE", "M!E"));
        assumeTrue(secret.contains("MEE"));

        assertThatThrownBy(() -> PemFiles.readKey(file)).isInstanceOf(CertsException.class)
                .hasNoCause()
                .hasMessage(file + ": a PEM block PRIVATE KEY whose content is not base64");
    }

    @Test
    void oversizedFileIsRefusedUnread() throws IOException {
        Path file = Files.write(folder.resolve("huge.crt"), new byte[Pem.MAX_TEXT_CHARS + 1]);

        assertThatThrownBy(() -> PemFiles.readCertificates(file)).isInstanceOf(CertsException.class)
                .hasMessageContaining("more than " + Pem.MAX_TEXT_CHARS);
    }

    @Test
    void rsaKeyOfAPublicAuthorityIsRead() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair rsa = generator.generateKeyPair();
        Path file = folder.resolve("edge.key");

        PemFiles.writeKey(file, rsa.getPrivate());

        assertThat(PemFiles.readKey(file)).isEqualTo(rsa.getPrivate());
    }

    @Test
    void keysThatOpensslMadeAreRead() throws Exception {
        assumeTrue(Openssl.available());

        Openssl.run(folder, "ecparam -name prime256v1 -genkey -out sec1.key");
        Openssl.run(folder, "pkcs8 -topk8 -nocrypt -in sec1.key -out pkcs8.key");
        Openssl.run(folder, "genrsa -traditional -out rsa.key 2048");
        Openssl.run(folder, "pkcs8 -topk8 -passout pass:x -in sec1.key -out encrypted.key");

        PrivateKey sec1 = PemFiles.readKey(folder.resolve("sec1.key"));
        assertThat(KeyPairs.of(PemFiles.readKey(folder.resolve("pkcs8.key"))).getPublic())
                .isEqualTo(KeyPairs.of(sec1).getPublic());
        assertThat(PemFiles.readKey(folder.resolve("rsa.key")).getAlgorithm()).isEqualTo("RSA");
        assertThatThrownBy(() -> PemFiles.readKey(folder.resolve("encrypted.key")))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("without passphrase");
    }

    @Test
    void materialOfTwoPairsNamesTheKeyFile() {
        CertificateAuthority ca = CertificateAuthority.create("test", new TestClock());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        PemFiles.writeKey(folder.resolve("ca.key"), KeyPairs.generate().getPrivate());

        assertThatThrownBy(() -> TlsMaterial.load(folder.resolve("ca.crt"), folder.resolve("ca.key")))
                .isInstanceOf(CertsException.class)
                .hasMessageStartingWith(folder.resolve("ca.key") + ": not the key");
    }
}
