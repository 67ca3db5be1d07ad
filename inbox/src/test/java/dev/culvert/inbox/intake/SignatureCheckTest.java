package dev.culvert.inbox.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.route.Verification;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** Signatures as providers make them. */
class SignatureCheckTest {
    /** The example of GitHub's documentation. */
    private static final String SECRET = "It's a Secret to Everybody";
    private static final String BODY = "Hello, World!";
    private static final String SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    private static final Instant NOW = Instant.ofEpochSecond(1_700_000_000);

    @Test
    void gitHubSignsTheBody() {
        assertThat(matches(Verification.Provider.GITHUB, List.of(SECRET), "x-hub-signature-256", SIGNATURE))
                .isTrue();
        assertThat(matches(Verification.Provider.GITHUB, List.of("other"), "x-hub-signature-256", SIGNATURE))
                .isFalse();
        assertThat(matches(Verification.Provider.GITHUB, List.of(SECRET), "x-hub-signature", SIGNATURE))
                .isFalse();
        assertThat(matches(Verification.Provider.GITHUB, List.of(SECRET), "x-hub-signature-256", "sha256=zz"))
                .isFalse();
        assertThat(
                matches(Verification.Provider.GITHUB, List.of(SECRET), "x-hub-signature-256", "sha1=757107"))
                .isFalse();
        assertThat(matches(Verification.Provider.GITHUB, List.of(SECRET))).isFalse();
    }

    @Test
    void aSecretMayFollowAnother() {
        assertThat(matches(Verification.Provider.GITHUB, List.of("new", SECRET), "x-hub-signature-256",
                SIGNATURE))
                .isTrue();
        assertThat(matches(Verification.Provider.GITHUB, List.of(), "x-hub-signature-256", SIGNATURE))
                .isFalse();
    }

    @Test
    void moreSecretsThanTheLimitAreNotTried() {
        List<String> many = new ArrayList<>();
        for (int i = 0; i < SignatureCheck.MAX_SECRETS; i++) {
            many.add("other" + i);
        }
        many.add(SECRET);

        assertThat(matches(Verification.Provider.GITHUB, many, "x-hub-signature-256", SIGNATURE)).isFalse();
    }

    @Test
    void twoSignaturesAreNone() {
        assertThat(matches(Verification.Provider.GITHUB, List.of(SECRET), "x-hub-signature-256", SIGNATURE,
                "x-hub-signature-256",
                SIGNATURE)).isFalse();
    }

    @Test
    void bitbucketSignsTheBodyUnderAnotherName() {
        assertThat(matches(Verification.Provider.BITBUCKET, List.of(SECRET), "x-hub-signature", SIGNATURE))
                .isTrue();
    }

    @Test
    void gitLabSendsTheSecret() {
        assertThat(matches(Verification.Provider.GITLAB, List.of("t1", "t2"), "x-gitlab-token", "t2"))
                .isTrue();
        assertThat(matches(Verification.Provider.GITLAB, List.of("t1", ""), "x-gitlab-token", "")).isFalse();
        assertThat(matches(Verification.Provider.GITLAB, List.of("t1"))).isFalse();
    }

    @Test
    void dockerHubHasTheSecretInItsAddress() {
        assertThat(matches(Verification.Provider.DOCKER_HUB, List.of("t1"), ":path",
                "/webhooks/a/b/?x=1&secret=t1"))
                .isTrue();
        assertThat(
                matches(Verification.Provider.DOCKER_HUB, List.of("t1"), ":path", "/webhooks/a/b/?secret=t2"))
                .isFalse();
        assertThat(matches(Verification.Provider.DOCKER_HUB, List.of("t1"), ":path", "/webhooks/a/b/"))
                .isFalse();
    }

    @Test
    void standardWebhooksSignIdTimeAndBody() throws GeneralSecurityException {
        byte[] key = "0123456789abcdef01234567".getBytes(StandardCharsets.US_ASCII);
        String secret = "whsec_" + Base64.getEncoder().encodeToString(key);

        assertThat(standard(secret, key, NOW)).isTrue();
        assertThat(standard("whsec_" + Base64.getEncoder().encodeToString(new byte[24]), key, NOW)).isFalse();
        assertThat(standard(secret, key, NOW.minusSeconds(299))).isTrue();
        assertThat(standard(secret, key, NOW.minusSeconds(301))).isFalse();
        assertThat(standard(secret, key, NOW.plusSeconds(301))).isFalse();
    }

    private static boolean standard(String secret, byte[] key, Instant time) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        byte[] signed = ("msg_1." + time.getEpochSecond() + "." + BODY).getBytes(StandardCharsets.US_ASCII);
        return matches(Verification.Provider.STANDARD_WEBHOOKS, List.of(secret), "webhook-id", "msg_1",
                "webhook-timestamp",
                Long.toString(time.getEpochSecond()), "webhook-signature",
                "v1a,xx v1,AAAA v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed)));
    }

    /** The body comes in two parts. */
    private static boolean matches(Verification.Provider provider, List<String> secrets, String... fields) {
        Http2Headers head = new DefaultHttp2Headers(false);
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        var check = new SignatureCheck(provider,
                secrets.stream().map(secret -> secret.getBytes(StandardCharsets.US_ASCII)).toList(),
                Clock.fixed(NOW, ZoneOffset.UTC)).begin(head);
        byte[] body = BODY.getBytes(StandardCharsets.US_ASCII);
        check.update(ByteBuffer.wrap(Arrays.copyOf(body, 5)));
        check.update(ByteBuffer.wrap(body, 5, body.length - 5));
        return check.matches();
    }
}
