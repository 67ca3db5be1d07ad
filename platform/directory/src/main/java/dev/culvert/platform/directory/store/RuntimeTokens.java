package dev.culvert.platform.directory.store;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Short-lived tokens that identify a user to one runtime, and no other. A cluster that stores one can use it
 * for minutes, and nowhere else. A token is a JWT (RFC 7519) with HS256 that names the key that signed it and
 * the API key that it was made with. Only the control plane verifies it, when that runtime asks, so it ends
 * with its user and with that API key.
 */
public final class RuntimeTokens {
    public static final int DEFAULT_SECONDS = 15 * 60;
    public static final int MAX_SECONDS = 60 * 60;
    /** The maximum length. Issued tokens have about 400 characters. */
    private static final int MAX_CHARS = 1024;
    private static final String ACCOUNT = "account";
    private static final String API_KEY = "key";
    private static final Pattern KID = Pattern.compile("[0-9a-f]{16}");

    private RuntimeTokens() {}

    /**
     * A newly issued token.
     *
     * @param expires seconds since 1970
     */
    public record Issued(String token, String runtime, long expires) {
        @Override
        public String toString() {
            return "Issued[***, " + runtime + ", " + expires + "]";
        }
    }

    /**
     * The owner of a token.
     *
     * @param expires seconds since 1970
     */
    public record Known(User user, long expires) {}

    /**
     * What a genuine token says.
     *
     * @param key the id of the API key that it was made with
     * @param issued seconds since 1970
     * @param expires seconds since 1970
     */
    record Claims(String account, String user, String key, String runtime, long issued, long expires) {}

    /** A token whose signature is not verified yet. */
    record Presented(SignedJWT jwt, String kid) {
        @Override
        public String toString() {
            return "Presented[***]";
        }
    }

    /** Whether a text may be a runtime token: API keys never have two dots. */
    public static boolean looksLike(String text) {
        return text.length() <= MAX_CHARS && text.chars().filter(c -> c == '.').count() == 2;
    }

    static Issued issue(SigningKeys.Unwrapped key, Claims claims) {
        var jwt = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.HS256).keyID(key.kid()).build(),
                new JWTClaimsSet.Builder().subject(claims.user())
                        .audience(claims.runtime())
                        .claim(ACCOUNT, claims.account())
                        .claim(API_KEY, claims.key())
                        .issueTime(Date.from(Instant.ofEpochSecond(claims.issued())))
                        .expirationTime(Date.from(Instant.ofEpochSecond(claims.expires())))
                        .build());
        try {
            jwt.sign(new MACSigner(key.secret()));
        } catch (JOSEException e) {
            throw new IllegalStateException("HMAC with SHA-256 is always there", e);
        }
        return new Issued(jwt.serialize(), claims.runtime(), claims.expires());
    }

    /** Parses a token. Null when the text is none, or names no key that may have signed it. */
    static @Nullable Presented parse(String text) {
        if (!looksLike(text)) {
            return null;
        }
        try {
            SignedJWT jwt = SignedJWT.parse(text);
            String kid = jwt.getHeader().getKeyID();
            return kid != null && KID.matcher(kid).matches()
                    && JWSAlgorithm.HS256.equals(jwt.getHeader().getAlgorithm())
                            ? new Presented(jwt, kid)
                            : null;
        } catch (ParseException e) {
            return null;
        }
    }

    /**
     * What the token says. Null unless the key signed it, it holds now, and it lives for an hour at most: who
     * has a secret must not make tokens that outlive the secret.
     *
     * @param now seconds since 1970
     */
    static @Nullable Claims verify(Presented presented, SecretKey secret, long now) {
        try {
            if (!presented.jwt().verify(new MACVerifier(secret))) {
                return null;
            }
            JWTClaimsSet claims = presented.jwt().getJWTClaimsSet();
            String user = claims.getSubject();
            String account = claims.getStringClaim(ACCOUNT);
            String key = claims.getStringClaim(API_KEY);
            List<String> runtimes = claims.getAudience();
            Date issued = claims.getIssueTime();
            Date expires = claims.getExpirationTime();
            if (user == null || account == null || key == null || issued == null || expires == null
                    || runtimes.size() != 1) {
                return null;
            }
            var said = new Claims(account, user, key, runtimes.getFirst(),
                    issued.toInstant().getEpochSecond(), expires.toInstant().getEpochSecond());
            return said.expires() > now && said.issued() <= now + SigningKeys.SKEW_SECONDS
                    && said.expires() - said.issued() <= MAX_SECONDS ? said : null;
        } catch (ParseException | JOSEException e) {
            return null;
        }
    }
}
