package dev.culvert.server.enrol;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.certs.EnrolmentProof;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The nonces of enrolment. An issued nonce costs no memory, so a client that requests many can neither fill
 * the server nor evict the nonces of others. A nonce consists of its time, random bytes, and a MAC over both
 * and the token's id with a key of this process. Only nonces used with a valid proof are remembered, until
 * they expire.
 *
 * <pre>
 * 0        8        16               32
 * +--------+--------+----------------+
 * | millis | random | MAC, 128 bits  |
 * +--------+--------+----------------+
 * </pre>
 */
final class EnrolmentNonces {
    static final Duration LIFE = Duration.ofSeconds(60);
    /**
     * The maximum number of remembered nonces, one for each successful enrolment within a minute. A nonce
     * that is forgotten early is usable only with its own key.
     */
    static final int MAX_SPENT = 100_000;
    private static final int MAC_OFFSET = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Clock clock;
    private final SecretKeySpec key;
    private final Cache<ByteBuffer, Boolean> spent;

    EnrolmentNonces(Clock clock, int maxSpent) {
        byte[] secret = new byte[32];
        RANDOM.nextBytes(secret);
        this.clock = clock;
        this.key = new SecretKeySpec(secret, "HmacSHA256");
        // Evicts on the caller's thread, so the bound is effective at once and no shared pool is used.
        this.spent = Caffeine.newBuilder()
                .maximumSize(maxSpent)
                .expireAfterWrite(LIFE)
                .ticker(() -> Duration.ofMillis(clock.millis()).toNanos())
                .executor(Runnable::run)
                .build();
    }

    /** A new nonce for a token. The caller owns it. */
    byte[] issue(String tokenId) {
        byte[] random = new byte[Long.BYTES];
        RANDOM.nextBytes(random);
        ByteBuffer nonce = ByteBuffer.allocate(EnrolmentProof.NONCE_BYTES)
                .putLong(clock.millis())
                .put(random);
        return nonce.put(mac(tokenId, nonce.array()), 0, EnrolmentProof.NONCE_BYTES - MAC_OFFSET).array();
    }

    /** Whether a nonce was issued here for this token and has not expired. It may be spent. */
    boolean fresh(String tokenId, byte[] nonce) {
        byte[] mac = Arrays.copyOf(mac(tokenId, nonce), EnrolmentProof.NONCE_BYTES - MAC_OFFSET);
        if (!MessageDigest.isEqual(mac, Arrays.copyOfRange(nonce, MAC_OFFSET, nonce.length))) {
            return false;
        }
        long age = clock.millis() - ByteBuffer.wrap(nonce).getLong();
        return age >= 0 && age < LIFE.toMillis();
    }

    /** Spends a nonce. Returns false if it was spent before. */
    boolean spend(byte[] nonce) {
        return spent.asMap().putIfAbsent(ByteBuffer.wrap(nonce.clone()), Boolean.TRUE) == null;
    }

    long remembered() {
        spent.cleanUp();
        return spent.estimatedSize();
    }

    private byte[] mac(String tokenId, byte[] nonce) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(nonce, 0, MAC_OFFSET);
            return mac.doFinal(tokenId.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HMAC-SHA-256", e);
        }
    }
}
