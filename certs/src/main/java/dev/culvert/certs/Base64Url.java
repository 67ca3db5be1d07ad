package dev.culvert.certs;

import java.util.Base64;

/** Base64url without padding (RFC 4648 §5) with exactly one valid text for each value. */
public final class Base64Url {
    private Base64Url() {}

    /** Encodes {@code bytes}. */
    public static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * Decodes {@code text}. Throws {@link CertsException}, which names {@code what} and never quotes the
     * text, unless the text is the canonical encoding of {@code length} bytes.
     */
    public static byte[] decode(String what, String text, int length) {
        byte[] bytes = decodeUpTo(what, text, length);
        if (bytes.length != length) {
            throw malformed(what, length + " bytes");
        }
        return bytes;
    }

    /** Decodes {@code text} to at most {@code max} bytes. */
    public static byte[] decodeUpTo(String what, String text, int max) {
        byte[] bytes = {};
        // Four characters encode three bytes.
        if (text.length() <= (max * 4 + 2) / 3) {
            try {
                bytes = Base64.getUrlDecoder().decode(text);
            } catch (IllegalArgumentException e) {
                // The exception's message quotes a character of the text, which may be secret.
                throw malformed(what, "at most " + max + " bytes");
            }
        }
        if (bytes.length == 0 || bytes.length > max || !encode(bytes).equals(text)) {
            throw malformed(what, "at most " + max + " bytes");
        }
        return bytes;
    }

    private static CertsException malformed(String what, String expected) {
        return new CertsException(
                what + " is malformed (expected: " + expected + " as base64url without padding)");
    }
}
