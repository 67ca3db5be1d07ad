package dev.culvert.platform.directory.store;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.culvert.store.Rows;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Short-lived tokens that identify a user to one runtime, and no other. A cluster that stores one can use it
 * for minutes, and nowhere else. A token is a JWT (RFC 7519) with HS256 and a secret that never leaves the
 * database. Only the control plane verifies it, when that runtime asks, so a removed user is refused at once.
 * Every method runs in the caller's transaction and blocks.
 */
public final class RuntimeTokens {
    public static final int DEFAULT_SECONDS = 15 * 60;
    public static final int MAX_SECONDS = 60 * 60;
    /** The length of the secret: that of the hash (RFC 7518 §3.2). */
    private static final int SECRET_BYTES = 32;
    /** The maximum length. Issued tokens have about 300 characters. */
    private static final int MAX_CHARS = 1024;
    private static final String ACCOUNT = "account";

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

    /** Whether a text may be a runtime token: API keys never have two dots. */
    public static boolean looksLike(String text) {
        return text.length() <= MAX_CHARS && text.chars().filter(c -> c == '.').count() == 2;
    }

    static Issued issue(Connection connection, User user, String runtime, long expires) throws SQLException {
        byte[] known = secret(connection);
        byte[] secret = known == null ? newSecret(connection) : known;
        var jwt = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256),
                new JWTClaimsSet.Builder().subject(user.id())
                        .audience(runtime)
                        .claim(ACCOUNT, user.account())
                        .expirationTime(Date.from(Instant.ofEpochSecond(expires)))
                        .build());
        try {
            jwt.sign(new MACSigner(secret));
        } catch (JOSEException e) {
            throw new IllegalStateException("HMAC with SHA-256 is always there", e);
        }
        return new Issued(jwt.serialize(), runtime, expires);
    }

    /**
     * The owner of a token. Null unless the token is genuine, for this runtime, not expired, and its user
     * still exists.
     */
    static @Nullable Known check(Connection connection, String text, String account, String runtime, long now)
            throws SQLException {
        byte[] secret = secret(connection);
        if (secret == null || !looksLike(text)) {
            return null;
        }
        try {
            SignedJWT jwt = SignedJWT.parse(text);
            if (!jwt.getHeader().getAlgorithm().equals(JWSAlgorithm.HS256)
                    || !jwt.verify(new MACVerifier(secret))) {
                return null;
            }
            JWTClaimsSet claims = jwt.getJWTClaimsSet();
            long expires = claims.getExpirationTime().toInstant().getEpochSecond();
            User user = PeopleTable.user(connection, account, claims.getSubject());
            return user != null && expires > now && account.equals(claims.getStringClaim(ACCOUNT))
                    && List.of(runtime).equals(claims.getAudience()) ? new Known(user, expires) : null;
        } catch (ParseException | JOSEException e) {
            return null;
        }
    }

    private static byte @Nullable [] secret(Connection connection) throws SQLException {
        return Rows.first(connection, row -> row.getBytes(1), "SELECT secret FROM token_secret");
    }

    private static byte[] newSecret(Connection connection) throws SQLException {
        byte[] made = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(made);
        Rows.update(connection, "INSERT INTO token_secret VALUES (1, ?) ON CONFLICT DO NOTHING", made);
        byte[] stored = secret(connection); // another process may have been first
        return stored == null ? made : stored;
    }
}
