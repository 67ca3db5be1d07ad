package dev.culvert.relay.upstream;

/**
 * Checks the characters of a head, so that no later hop reads more than one field, or one request, from it.
 */
public final class FieldText {
    private FieldText() {}

    /**
     * Whether a text has no control characters and none below {@code least}. A tab is allowed where spaces
     * are.
     */
    public static boolean isText(CharSequence text, char least) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < least && !(c == '\t' && least == ' ')) || c == 0x7f || c > 0xff) {
                return false;
            }
        }
        return true;
    }

    /** Whether a text is a token (RFC 9110 §5.6.2). */
    public static boolean isToken(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letter && "!#$%&'*+-.^_`|~".indexOf(c) < 0) {
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
