package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.KeyPair;
import org.junit.jupiter.api.Test;

class KeyProofTest {
    private static final byte[] NONCE = {1, 2, 3};
    private static final byte[] OTHER = {4, 5};

    private final KeyPair keys = KeyPairs.generate();

    @Test
    void fitsItsInputsAndKey() {
        byte[] signed = KeyProof.renewal(NONCE, OTHER).sign(keys.getPrivate());

        assertThat(signed).hasSizeLessThanOrEqualTo(KeyProof.MAX_BYTES);
        assertThat(KeyProof.renewal(NONCE, OTHER).isBy(keys.getPublic(), signed)).isTrue();
    }

    @Test
    void fitsNothingElse() {
        byte[] signed = KeyProof.renewal(NONCE, OTHER).sign(keys.getPrivate());

        assertThat(KeyProof.renewal(OTHER, NONCE).isBy(keys.getPublic(), signed)).isFalse();
        assertThat(KeyProof.renewal(new byte[]{1, 2}, new byte[]{3, 4, 5}).isBy(keys.getPublic(), signed))
                .isFalse();
        assertThat(KeyProof.renewal(NONCE, OTHER).isBy(KeyPairs.generate().getPublic(), signed)).isFalse();
        assertThat(KeyProof.session(NONCE, OTHER, new byte[0]).isBy(keys.getPublic(), signed)).isFalse();
        byte[] opening = KeyProof.opening(NONCE, OTHER, NONCE, "t.example").sign(keys.getPrivate());
        assertThat(KeyProof.opening(NONCE, OTHER, NONCE, "t.example").isBy(keys.getPublic(), opening))
                .isTrue();
        assertThat(KeyProof.opening(NONCE, OTHER, NONCE, "u.example").isBy(keys.getPublic(), opening))
                .isFalse();
        assertThat(KeyProof.session(NONCE, OTHER, NONCE).isBy(keys.getPublic(), opening)).isFalse();
    }

    @Test
    void bytesThatAreNoSignatureFitNothing() {
        KeyProof proof = KeyProof.session(NONCE, OTHER, NONCE);

        assertThat(proof.isBy(keys.getPublic(), new byte[0])).isFalse();
        assertThat(proof.isBy(keys.getPublic(), new byte[]{0x30, 0x02, 0x01})).isFalse();
        assertThat(proof.isBy(keys.getPublic(), new byte[KeyProof.MAX_BYTES])).isFalse();
    }
}
