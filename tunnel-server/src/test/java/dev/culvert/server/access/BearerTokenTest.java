package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import dev.culvert.server.access.BearerToken.Judgement;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class BearerTokenTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final ECKey KEY = Issuer.ec("k1");
    private static final Requirement.Jwt RULE = rule(Requirement.Jwt.ALGORITHMS, Map.of());

    private static Requirement.Jwt rule(List<String> algorithms, Map<String, List<String>> claims) {
        return new Requirement.Jwt(URI.create("https://issuer.example/jwks"), Issuer.NAME,
                List.of("other", Issuer.AUDIENCE), algorithms, Duration.ofSeconds(30), claims);
    }

    private static Judgement judge(Requirement.Jwt rule, UnaryOperator<JWTClaimsSet.Builder> change) {
        BearerToken token = Objects.requireNonNull(BearerToken.read(Issuer.token(KEY, NOW, change), rule));
        return token.judge(KEY.toPublicJWK(), rule, NOW);
    }

    private static String reason(UnaryOperator<JWTClaimsSet.Builder> change) {
        return ((Judgement.Invalid) judge(RULE, change)).reason();
    }

    private static Date in(int seconds) {
        return Date.from(NOW.plusSeconds(seconds));
    }

    @Test
    void aGenuineTokenCountsUntilItsEndAndTheLeeway() {
        Judgement judged = judge(RULE, claims -> claims);

        assertThat(judged).isEqualTo(
                new Judgement.Valid("ann", KEY.toPublicJWK(), NOW.plusSeconds(5 * 60 + 30)));
    }

    @Test
    void timesHaveALeeway() {
        assertThat(judge(RULE, claims -> claims.expirationTime(in(-29)))).isInstanceOf(Judgement.Valid.class);
        assertThat(reason(claims -> claims.expirationTime(in(-30)))).isEqualTo("the token has expired");
        assertThat(judge(RULE, claims -> claims.notBeforeTime(in(30)))).isInstanceOf(Judgement.Valid.class);
        assertThat(reason(claims -> claims.notBeforeTime(in(31)))).isEqualTo("the token is not valid yet");
        assertThat(reason(claims -> claims.expirationTime(null))).isEqualTo("the token has no end (exp)");
    }

    @Test
    void itIsOfTheIssuerForTheAudience() {
        assertThat(reason(claims -> claims.issuer("https://evil.example")))
                .isEqualTo("the token is of another issuer");
        assertThat(reason(claims -> claims.issuer(null))).isEqualTo("the token is of another issuer");
        assertThat(reason(claims -> claims.audience("shop"))).isEqualTo("the token is for another audience");
        assertThat(reason(claims -> claims.audience((String) null)))
                .isEqualTo("the token is for another audience");
        assertThat(judge(RULE, claims -> claims.audience(List.of("shop", "culvert"))))
                .isInstanceOf(Judgement.Valid.class);
    }

    @Test
    void claimsThatAreAskedForMustBeThere() {
        Requirement.Jwt rule = rule(Requirement.Jwt.ALGORITHMS, Map.of("groups", List.of("ops", "dev")));

        assertThat(judge(rule, claims -> claims)).isEqualTo(new Judgement.Insufficient("groups"));
        assertThat(judge(rule, claims -> claims.claim("groups", "not ops")))
                .isEqualTo(new Judgement.Insufficient("groups"));
        assertThat(judge(rule, claims -> claims.claim("groups", "ops"))).isInstanceOf(Judgement.Valid.class);
        assertThat(judge(rule, claims -> claims.claim("groups", List.of("a", "dev"))))
                .isInstanceOf(Judgement.Valid.class);
        assertThat(judge(rule(Requirement.Jwt.ALGORITHMS, Map.of("scope", List.of("read"))),
                claims -> claims.claim("scope", "write read"))).isInstanceOf(Judgement.Valid.class);
    }

    @Test
    void aSignatureOfAnotherKeyIsNone() {
        BearerToken token = Objects.requireNonNull(BearerToken.read(Issuer.token(KEY, NOW), RULE));

        assertThat(token.judge(Issuer.ec("k1").toPublicJWK(), RULE, NOW))
                .isEqualTo(new Judgement.Invalid("the token's signature is not valid"));
    }

    @Test
    void whatIsNotAllowedIsNotEvenVerified() throws Exception {
        String none = Base64URL.encode("{\"alg\":\"none\"}") + "."
                + Base64URL.encode(Issuer.claims(NOW).build().toString()) + ".";
        String genuine = Issuer.token(KEY, NOW);
        byte[] publicKey = KEY.toPublicJWK().toECPublicKey().getEncoded();

        assertThat(BearerToken.read(none, RULE)).isNull();
        assertThat(BearerToken.read(none + "x", RULE)).isNull();
        assertThat(BearerToken.read(Issuer.hs256(publicKey, "k1", NOW), RULE)).isNull();
        assertThat(BearerToken.read(genuine, rule(List.of("RS256"), Map.of()))).isNull();
        assertThat(BearerToken.read("x.y", RULE)).isNull();
        assertThat(BearerToken.read("", RULE)).isNull();
        assertThat(BearerToken.read("a".repeat(BearerToken.MAX_CHARS + 1), RULE)).isNull();
        String critical = Base64URL.encode("{\"alg\":\"ES256\",\"crit\":[\"b64\"],\"b64\":false}")
                + genuine.substring(genuine.indexOf('.'));
        assertThat(BearerToken.read(critical, RULE)).isNull();
    }

    @Test
    void keysThatAreNotForSignaturesAreLeftOut() throws Exception {
        RSAKey small = Issuer.rsa("small", 1024);
        RSAKey large = Issuer.rsa("large", 2048);
        byte[] json = new String(Issuer.jwks(small, large, KEY), StandardCharsets.UTF_8)
                .replace("{\"keys\":[",
                        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2VjcmV0\",\"kid\":\"secret\"},")
                .getBytes(StandardCharsets.UTF_8);

        SignatureKeys keys = SignatureKeys.parse(json);

        assertThat(keys.keys()).extracting(JWK::getKeyID).containsExactly("large", "k1");
        assertThat(keys.keys()).noneMatch(JWK::isPrivate);
        BearerToken token = Objects.requireNonNull(BearerToken.read(Issuer.token(large, NOW), RULE));
        assertThat(keys.find(token.header())).isEqualTo(large.toPublicJWK());
        assertThat(token.judge(large.toPublicJWK(), RULE, NOW)).isInstanceOf(Judgement.Valid.class);
    }

    @Test
    void aKeyIsForItsOwnAlgorithmsOnly() throws Exception {
        RSAKey rsa = new RSAKey.Builder(Issuer.rsa("k1", 2048))
                .algorithm(com.nimbusds.jose.JWSAlgorithm.PS256)
                .build();
        BearerToken es256 = Objects.requireNonNull(BearerToken.read(Issuer.token(KEY, NOW), RULE));
        BearerToken rs256 = Objects.requireNonNull(BearerToken.read(Issuer.token(rsa, NOW), RULE));
        SignatureKeys keys = SignatureKeys.parse(Issuer.jwks(rsa));

        assertThat(keys.find(es256.header())).isNull();
        assertThat(keys.find(rs256.header())).isNull();
    }

    @Test
    void edwardsCurvesCount() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] encoded = pair.getPublic().getEncoded();
        byte[] x = java.util.Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
        SignatureKeys keys = SignatureKeys
                .parse(("{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"e\",\"x\":\""
                        + Base64URL.encode(x) + "\"}]}").getBytes(StandardCharsets.UTF_8));
        String signed = Base64URL.encode("{\"alg\":\"EdDSA\",\"kid\":\"e\"}") + "."
                + Base64URL.encode(Issuer.claims(NOW).build().toString());
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(pair.getPrivate());
        signer.update(signed.getBytes(StandardCharsets.US_ASCII));
        Base64URL signature = Base64URL.encode(signer.sign());

        BearerToken token = Objects.requireNonNull(BearerToken.read(signed + "." + signature, RULE));
        JWK key = Objects.requireNonNull(keys.find(token.header()));

        assertThat(token.judge(key, RULE, NOW)).isInstanceOf(Judgement.Valid.class);
        BearerToken forged = Objects
                .requireNonNull(BearerToken.read(signed + "." + Base64URL.encode(new byte[64]), RULE));
        assertThat(forged.judge(key, RULE, NOW)).isInstanceOf(Judgement.Invalid.class);
    }

    @Test
    void aSetWithoutKeysForSignaturesIsNone() {
        for (String json : List.of("", "[]", "{\"keys\":[]}",
                "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}")) {
            assertThat(org.assertj.core.api.Assertions.catchThrowable(
                    () -> SignatureKeys.parse(json.getBytes(StandardCharsets.UTF_8))))
                    .isInstanceOf(ParseException.class);
        }
    }
}
