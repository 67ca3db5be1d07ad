package dev.culvert.platform.triggers.store;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Ids of 24 hexadecimal digits, in the order of time. */
final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int TIME_DIGITS = 12;
    private static final int RANDOM_BYTES = 6;

    private Ids() {}

    /** A new id of a time in milliseconds since 1970. */
    static String at(long millis) {
        byte[] random = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(random);
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(millis, TIME_DIGITS) + hex.formatHex(random);
    }
}
