package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class EnrolmentProofTest {
    private final byte[] key = new byte[32];
    private final byte[] nonce = new byte[32];

    EnrolmentProofTest() {
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) i;
        }
        Arrays.fill(nonce, (byte) 0xaa);
    }

    @Test
    void bytesAreThoseOfTheDocument() {
        // Computed from docs/enrolment.md with Python's hmac.
        assertThat(EnrolmentProof.request(key, nonce, ascii("csr")))
                .isEqualTo(hex("cb13675768f94a588e9692fcca5c88ca9296e0e72881946eb2b9742543e0cfcf"));
        assertThat(EnrolmentProof.response(key, nonce, ascii("certificate"), ascii("ca")))
                .isEqualTo(hex("f021465b1785a95085a4ff7cd937d7b0243621d21c4a9632b3565c8a3f4d3a13"));
    }

    @Test
    void inputsThatRunTogetherGiveAnotherProof() {
        byte[] proof = EnrolmentProof.response(key, nonce, ascii("ab"), ascii("c"));

        assertThat(EnrolmentProof.response(key, nonce, ascii("a"), ascii("bc"))).isNotEqualTo(proof);
    }

    @Test
    void onlyTheSameProofMatches() {
        byte[] proof = EnrolmentProof.request(key, nonce, ascii("csr"));
        byte[] other = EnrolmentProof.request(nonce, nonce, ascii("csr"));

        assertThat(EnrolmentProof.matches(proof, proof.clone())).isTrue();
        assertThat(EnrolmentProof.matches(proof, other)).isFalse();
        assertThat(EnrolmentProof.matches(proof, Arrays.copyOf(proof, 31))).isFalse();
        assertThat(EnrolmentProof.matches(proof, new byte[0])).isFalse();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }
}
