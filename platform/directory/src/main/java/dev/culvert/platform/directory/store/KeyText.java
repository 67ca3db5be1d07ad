package dev.culvert.platform.directory.store;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.EnrolmentToken;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The text of an API key: {@code <id>.<secret>}, or a runtime's enrolment token, {@code
 * culvert1.<id>.<secret>.<pin>}, whose id begins with the key's. It is shown once. Only its id and a SHA-256
 * are stored; a plain hash is sufficient for a secret of 256 random bits. Prints as {@code ***}.
 */
public final class KeyText {
    private static final int SECRET_BYTES = 32;
    /** The maximum length. Issued keys have 68 characters. */
    private static final int MAX_CHARS = 256;
    private static final String ENROLMENT = "culvert1.";
    private static final int ENROLMENT_ID_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String text;
    private final String id;

    private KeyText(String text, String id) {
        this.text = text;
        this.id = id;
    }

    public static KeyText create() {
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(secret);
        String id = Id.create();
        return new KeyText(id + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(secret), id);
    }

    /** Parses a key. Null when the text is not a possible key. */
    static @Nullable KeyText parse(String text) {
        if (text.startsWith(ENROLMENT)) {
            return enrolment(text);
        }
        int dot = text.indexOf('.');
        if (dot < 0 || text.length() > MAX_CHARS || !Id.valid(text.substring(0, dot))) {
            return null;
        }
        return new KeyText(text, text.substring(0, dot));
    }

    private static @Nullable KeyText enrolment(String text) {
        try {
            byte[] id = Base64Url.decode("id", EnrolmentToken.parse(text).id(), ENROLMENT_ID_BYTES);
            return new KeyText(text, HexFormat.of().formatHex(id, 0, Id.BYTES));
        } catch (CertsException e) {
            return null;
        }
    }

    String id() {
        return id;
    }

    /** The hash for the database. */
    byte[] hash() {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Compares in constant time. */
    boolean hasHash(byte[] hash) {
        return MessageDigest.isEqual(hash(), hash);
    }

    /** The secret itself, for its owner. */
    public String reveal() {
        return text;
    }

    @Override
    public String toString() {
        return "***";
    }
}
