package dev.culvert.platform.triggers.hermes;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Proves that somebody knows the secret of an event. All comparisons take the same time. */
@FunctionalInterface
public interface Proof {
    /** Whether it is proved for a secret. */
    boolean by(String secret);

    /** The secret itself; null: none was given. */
    static Proof equal(@Nullable String given) {
        byte[] bytes = bytes(given == null ? "" : given);
        return secret -> given != null && MessageDigest.isEqual(bytes(secret), bytes);
    }

    /**
     * The HMAC of a body, as hexadecimal digits.
     *
     * @param given the digits; null: none were given
     */
    static Proof hmac(Algorithm algorithm, @Nullable String given, byte[] body) {
        byte[] digits = bytes(given == null ? "" : given.toLowerCase(Locale.ROOT));
        return secret -> MessageDigest.isEqual(bytes(algorithm.hex(secret, body)), digits);
    }

    /** The secret itself, or its HMAC of a body by any algorithm. */
    static Proof equalOrHmac(@Nullable String given, byte[] body) {
        Proof equal = equal(given);
        return secret -> {
            boolean isRight = equal.by(secret);
            for (Algorithm algorithm : Algorithm.values()) {
                isRight |= hmac(algorithm, given, body).by(secret);
            }
            return isRight;
        };
    }

    /** The algorithms. */
    enum Algorithm {
        SHA1("HmacSHA1"), SHA256("HmacSHA256"), SHA512("HmacSHA512");

        private final String name;

        Algorithm(String name) {
            this.name = name;
        }

        private String hex(String secret, byte[] body) {
            try {
                Mac mac = Mac.getInstance(name);
                mac.init(new SecretKeySpec(bytes(secret), name));
                return HexFormat.of().formatHex(mac.doFinal(body));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java platform has " + name, e);
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
