package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import org.junit.jupiter.api.Test;

class KeyPairsTest {
    @Test
    void publicHalfIsComputedFromThePrivateOne() {
        KeyPair made = KeyPairs.generate();

        assertThat(KeyPairs.of(made.getPrivate()).getPublic()).isEqualTo(made.getPublic());
    }

    @Test
    void halvesOfDifferentPairsDoNotMatch() {
        KeyPair one = KeyPairs.generate();
        KeyPair other = KeyPairs.generate();

        assertThat(KeyPairs.match(one.getPrivate(), one.getPublic())).isTrue();
        assertThat(KeyPairs.match(one.getPrivate(), other.getPublic())).isFalse();
    }

    @Test
    void onlyP256IsTaken() throws Exception {
        KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
        rsa.initialize(1024);
        KeyPairGenerator p384 = KeyPairGenerator.getInstance("EC");
        p384.initialize(384);

        assertThatThrownBy(() -> KeyPairs.of(rsa.generateKeyPair().getPrivate()))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("P-256");
        assertThatThrownBy(() -> KeyPairs.of(p384.generateKeyPair().getPrivate()))
                .isInstanceOf(CertsException.class)
                .hasMessageContaining("P-256");
    }
}
