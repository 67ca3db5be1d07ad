package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class EnrolmentTokenTest {
    private final CertificateAuthority ca = CertificateAuthority.create("test", new TestClock());
    private final EnrolmentToken token = EnrolmentToken.generate(ca.certificate());

    @Test
    void parsesBackToTheSameToken() {
        EnrolmentToken parsed = EnrolmentToken.parse(token.text());

        assertThat(parsed.id()).isEqualTo(token.id()).hasSize(22);
        assertThat(parsed.secretHash()).isEqualTo(token.secretHash()).hasSize(32);
        assertThat(parsed.caPin()).isEqualTo(KeyPin.of(ca.certificate()));
        assertThat(parsed.text()).isEqualTo(token.text());
    }

    @Test
    void noTwoAreAlike() {
        EnrolmentToken other = EnrolmentToken.generate(ca.certificate());

        assertThat(other.id()).isNotEqualTo(token.id());
        assertThat(other.secretHash()).isNotEqualTo(token.secretHash());
    }

    @Test
    void printsMasked() {
        String secret = token.text().split("\\.", -1)[2];

        assertThat(token.toString()).startsWith("culvert1." + token.id() + ".***.").doesNotContain(secret);
    }

    @Test
    void everyDamageIsRefusedWithoutQuotingTheSecret() {
        String text = token.text();
        List<String> parts = List.of(text.split("\\.", -1));
        String secret = parts.get(2);
        for (String damaged : List.of("", "culvert1", text + ".", text + "x", text + "=", " " + text,
                text + "\n",
                text.replace("culvert1", "culvert2"), text.replace(secret, ""),
                text.replace(secret, secret + "A"),
                text.replace(secret, secret.substring(1)), text.replace(secret, "+" + secret.substring(1)),
                text.replace(secret, "ä" + secret.substring(1)), String.join(".", parts.subList(0, 3)),
                text.replace(parts.get(1), "a"), text.replace(parts.get(3), "a"), "x".repeat(1_000_000))) {
            assertThatThrownBy(() -> EnrolmentToken.parse(damaged)).isInstanceOf(CertsException.class)
                    .hasNoCause()
                    .satisfies(e -> assertThat(String.valueOf(e.getMessage()).length()).isLessThan(120))
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain(secret.substring(1, 20)));
        }
    }

    @Test
    void oneTokenHasOneSpelling() {
        // 43 characters carry 258 bits: the last two must be zero.
        String secret = token.text().split("\\.", -1)[2];
        char last = secret.charAt(42);
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        String twin = secret.substring(0, 42) + alphabet.charAt(alphabet.indexOf(last) + 1);

        assertThatThrownBy(() -> EnrolmentToken.parse(token.text().replace(secret, twin)))
                .isInstanceOf(CertsException.class);
    }
}
