package dev.culvert.server.access;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.culvert.server.access.Requirement.Jwt;
import java.text.ParseException;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A presented bearer token. To judge it takes some 0.1 ms of cryptography, too long for event loops. */
final class BearerToken {
    /** The maximum length: far above any token. Heads may be larger. */
    static final int MAX_CHARS = 16 << 10;

    private final SignedJWT jwt;

    private BearerToken(SignedJWT jwt) {
        this.jwt = jwt;
    }

    /** The result of the judgement. Reasons may be shown to the caller. */
    sealed interface Judgement {
        /**
         * The token meets the rule.
         *
         * @param subject its subject, or empty
         * @param key the key that verified it
         * @param expires when it expires, leeway included
         */
        record Valid(String subject, JWK key, Instant expires) implements Judgement {}

        /** The token is not accepted. */
        record Invalid(String reason) implements Judgement {}

        /** The token is genuine, but lacks a claim. */
        record Insufficient(String claim) implements Judgement {}
    }

    /** Parses a token. Returns null unless it is a signed JWT with an algorithm that {@code rule} allows. */
    static @Nullable BearerToken read(String text, Jwt rule) {
        if (text.length() > MAX_CHARS) {
            return null;
        }
        try {
            SignedJWT jwt = SignedJWT.parse(text); // refuses alg none
            JWSHeader header = jwt.getHeader();
            JWSAlgorithm algorithm = header.getAlgorithm();
            // RFC 7515 §4.1.11: critical extensions are not supported.
            boolean plain = header.getCriticalParams() == null || header.getCriticalParams().isEmpty();
            return plain && header.isBase64URLEncodePayload()
                    && rule.algorithms().contains(algorithm.getName())
                            ? new BearerToken(jwt)
                            : null;
        } catch (ParseException | IllegalArgumentException e) {
            return null;
        }
    }

    JWSHeader header() {
        return jwt.getHeader();
    }

    /** Judges the token with the key that it names. */
    Judgement judge(JWK key, Jwt rule, Instant now) {
        if (!SignatureKeys.verify(key, jwt.getHeader(), jwt.getSigningInput(), jwt.getSignature())) {
            return new Judgement.Invalid("the token's signature is not valid");
        }
        try {
            return claims(jwt.getJWTClaimsSet(), key, rule, now);
        } catch (ParseException e) {
            return new Judgement.Invalid("the token's claims can't be read");
        }
    }

    private static Judgement claims(JWTClaimsSet claims, JWK key, Jwt rule, Instant now) {
        Date expires = claims.getExpirationTime();
        Date starts = claims.getNotBeforeTime();
        if (expires == null) {
            return new Judgement.Invalid("the token has no end (exp)");
        }
        Instant end = expires.toInstant().plus(rule.leeway());
        if (!now.isBefore(end)) {
            return new Judgement.Invalid("the token has expired");
        }
        if (starts != null && now.plus(rule.leeway()).isBefore(starts.toInstant())) {
            return new Judgement.Invalid("the token is not valid yet");
        }
        if (!rule.issuer().equals(claims.getIssuer())) {
            return new Judgement.Invalid("the token is of another issuer");
        }
        if (claims.getAudience().stream().noneMatch(rule.audiences()::contains)) {
            return new Judgement.Invalid("the token is for another audience");
        }
        for (Map.Entry<String, List<String>> wanted : rule.claims().entrySet()) {
            if (!has(wanted.getKey(), claims.getClaim(wanted.getKey()), wanted.getValue())) {
                return new Judgement.Insufficient(wanted.getKey());
            }
        }
        String subject = claims.getSubject();
        return new Judgement.Valid(subject == null ? "" : subject, key, end);
    }

    /**
     * RFC 8693 §4.2: {@code scope} is a list of words. Other claims are not split, because users may choose
     * their values.
     */
    private static boolean has(String name, @Nullable Object claim, List<String> wanted) {
        return switch (claim) {
            case null -> false;
            case Collection<?> values -> values.stream().anyMatch(value -> wanted.contains(value.toString()));
            case String words when name.equals("scope") ->
                List.of(words.split(" ")).stream().anyMatch(wanted::contains);
            default -> wanted.contains(claim.toString());
        };
    }
}
