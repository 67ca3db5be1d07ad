package dev.culvert.certs;

import java.util.Base64;

/** Base64url without padding (RFC 4648 §5), one text for one value. */
public final class Base64Url {
    private Base64Url() {}

    /** The text of {@code bytes}. */
    public static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * The bytes of {@code text}. Throws {@link CertsException}, which names {@code what} and never quotes the text,
     * unless they are {@code length} bytes in their only spelling.
     */
    public static byte[] decode(String what, String text, int length) {
        byte[] bytes = new byte[0];
        // Four characters carry three bytes.
        if (text.length() == (length * 4 + 2) / 3) {
            try {
                bytes = Base64.getUrlDecoder().decode(text);
            } catch (IllegalArgumentException e) {
                // Its message quotes a character of what may be a secret; falls through to ours.
                bytes = new byte[0];
            }
        }
        if (bytes.length != length || !encode(bytes).equals(text)) {
            throw new CertsException(
                    what + " is malformed (expected: " + length + " bytes as base64url without padding)");
        }
        return bytes;
    }
}
