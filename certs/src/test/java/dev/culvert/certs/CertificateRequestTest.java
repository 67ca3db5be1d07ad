package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CertificateRequestTest {
    private final KeyPair keys = KeyPairs.generate();
    private final CertificateRequest request = CertificateRequest.create(keys);

    @Test
    void parsesBackToTheSameKeyAndBytes() {
        CertificateRequest parsed = CertificateRequest.parse(request.pem());

        assertThat(parsed.publicKey()).isEqualTo(keys.getPublic());
        assertThat(parsed.encoded()).isEqualTo(request.encoded());
    }

    @Test
    void everyFlippedBitIsRefusedAsSuch() {
        byte[] der = request.encoded();
        for (int bit = 0; bit < der.length * 8; bit++) {
            byte[] flipped = der.clone();
            flipped[bit / 8] ^= (byte) (1 << (bit % 8));

            assertThatThrownBy(() -> CertificateRequest.parse(Pem.block("CERTIFICATE REQUEST", flipped)))
                    .isInstanceOf(CertsException.class);
        }
    }

    @Test
    void everyPrefixIsRefusedAsSuch() {
        byte[] der = request.encoded();
        for (int length = 0; length < der.length; length++) {
            byte[] prefix = Arrays.copyOf(der, length);

            assertThatThrownBy(() -> CertificateRequest.parse(Pem.block("CERTIFICATE REQUEST", prefix)))
                    .isInstanceOf(CertsException.class);
        }
    }

    @Test
    void noiseIsRefusedAsSuch() {
        var random = new SplittableRandom(7);
        for (int i = 0; i < 2000; i++) {
            byte[] noise = new byte[random.nextInt(1, 400)];
            random.nextBytes(noise);
            noise[0] = 0x30;

            assertThatThrownBy(() -> CertificateRequest.parse(Pem.block("CERTIFICATE REQUEST", noise)))
                    .isInstanceOf(CertsException.class);
        }
    }

    @Test
    void oversizedTextIsRefused() {
        String padded = request.pem() + "\n".repeat(CertificateRequest.MAX_PEM_CHARS);

        assertThatThrownBy(() -> CertificateRequest.parse(padded)).isInstanceOf(CertsException.class)
                .hasMessageContaining("at most 4096");
    }

    @Test
    void anythingAroundTheBlockIsRefused() {
        for (String text : List.of("", "x", request.pem() + "x", "x\n" + request.pem(),
                request.pem() + request.pem(),
                Pem.block("CERTIFICATE", request.encoded()))) {
            assertThatThrownBy(() -> CertificateRequest.parse(text)).isInstanceOf(CertsException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ec -pkeyopt ec_paramgen_curve:P-384", "ec -pkeyopt ec_paramgen_curve:secp256k1",
            "ec -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit", "rsa:2048", "ed25519"})
    void otherKindsOfKeyAreRefused(String kind, @TempDir Path folder) throws Exception {
        assumeTrue(Openssl.available());
        Openssl.run(folder, "req -new -nodes -subj /CN=x -keyout x.key -out x.csr -newkey " + kind);

        assertThatThrownBy(() -> CertificateRequest.parse(Files.readString(folder.resolve("x.csr"))))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("P-256");
    }

    @Test
    void requestThatOpensslMadeIsTaken(@TempDir Path folder) throws Exception {
        assumeTrue(Openssl.available());
        Openssl.run(folder, "req -new -nodes -sha256 -subj /CN=root -addext subjectAltName=DNS:evil.example"
                + " -keyout x.key -out x.csr -newkey ec -pkeyopt ec_paramgen_curve:P-256");

        CertificateRequest parsed = CertificateRequest.parse(Files.readString(folder.resolve("x.csr")));

        assertThat(KeyPairs.match(PemFiles.readKey(folder.resolve("x.key")), parsed.publicKey())).isTrue();
    }

    @Test
    void ourRequestIsTakenByOpenssl(@TempDir Path folder) throws Exception {
        assumeTrue(Openssl.available());
        Files.writeString(folder.resolve("x.csr"), request.pem());

        assertThat(Openssl.run(folder, "req -verify -noout -in x.csr")).containsIgnoringCase("verify OK");
    }
}
