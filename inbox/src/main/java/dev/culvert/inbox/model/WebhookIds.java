package dev.culvert.inbox.model;

import java.security.SecureRandom;
import java.util.UUID;

/**
 * Creates ids that sort by time and cannot be guessed: UUIDs of version 7 (RFC 9562 §5.7). Safe for use by
 * any thread.
 */
public final class WebhookIds {
    private static final long VERSION = 7L << 12;
    private static final long VARIANT = 2L << 62;
    private static final int TIME_SHIFT = 16;

    private final SecureRandom random = new SecureRandom();

    public String next(long nowMillis) {
        long high = nowMillis << TIME_SHIFT | VERSION | random.nextInt(1 << 12);
        long low = VARIANT | random.nextLong() >>> 2;
        return new UUID(high, low).toString();
    }
}
