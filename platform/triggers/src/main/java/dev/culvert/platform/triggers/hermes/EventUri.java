package dev.culvert.platform.triggers.hermes;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** URIs of events: parts with colons between them, of which the last one is the account's. */
public final class EventUri {
    /** The largest URI. */
    static final int MAX_CHARS = 1_024;
    private static final int ACCOUNT_BYTES = 6;

    private EventUri() {}

    /** The URI of an event in an account. */
    public static String of(String event, String account) {
        return event + ":" + accountPart(account);
    }

    /** The first 12 hexadecimal digits of the SHA-1 of an account's id, as the public platform has it. */
    public static String accountPart(String account) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest(account.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, ACCOUNT_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }
}
