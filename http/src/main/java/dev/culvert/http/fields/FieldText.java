package dev.culvert.http.fields;

import io.netty.util.AsciiString;

/**
 * Checks the characters of a head, so that no later hop reads more than one field, or one request, from it.
 */
public final class FieldText {
    /** The lower case of each octet of a token; 0: not of a token (RFC 9110 §5.6.2). */
    private static final byte[] TOKEN = new byte[256];

    static {
        for (char c = '0'; c <= '9'; c++) {
            TOKEN[c] = (byte) c;
        }
        for (char c = 'a'; c <= 'z'; c++) {
            TOKEN[c] = (byte) c;
            TOKEN[c - 'a' + 'A'] = (byte) c;
        }
        for (char c : "!#$%&'*+-.^_`|~".toCharArray()) {
            TOKEN[c] = (byte) c;
        }
    }

    private FieldText() {}

    /**
     * Whether a text has no control characters and none below {@code least}. A tab is allowed where spaces
     * are.
     */
    public static boolean isText(CharSequence text, char least) {
        if (text instanceof AsciiString ascii) {
            return isText(ascii, least);
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0xff || !isAllowed(c, least)) {
                return false;
            }
        }
        return true;
    }

    /** Reads the array, because {@code charAt} checks its index for each character. */
    private static boolean isText(AsciiString text, char least) {
        byte[] bytes = text.array();
        int end = text.arrayOffset() + text.length();
        for (int i = text.arrayOffset(); i < end; i++) {
            if (!isAllowed(bytes[i] & 0xff, least)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAllowed(int c, char least) {
        return (c >= least || (c == '\t' && least == ' ')) && c != 0x7f;
    }

    /** Returns the lower case of an octet of a token; 0: tokens have no such octet (RFC 9110 §5.6.2). */
    static byte lower(byte octet) {
        return TOKEN[octet & 0xff];
    }

    /** Whether a text is a token (RFC 9110 §5.6.2). */
    public static boolean isToken(CharSequence text) {
        if (text instanceof AsciiString ascii) {
            return isToken(ascii);
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0xff || TOKEN[c] == 0) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    private static boolean isToken(AsciiString text) {
        byte[] bytes = text.array();
        int end = text.arrayOffset() + text.length();
        for (int i = text.arrayOffset(); i < end; i++) {
            if (TOKEN[bytes[i] & 0xff] == 0) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /**
     * Whether a text is a request target that a server accepts, other than a proxy's: origin-form or
     * asterisk-form.
     */
    public static boolean isTarget(String target) {
        return isText(target, '!') && (target.startsWith("/") || target.equals("*"));
    }
}
