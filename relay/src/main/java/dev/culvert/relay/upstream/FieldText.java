package dev.culvert.relay.upstream;

/** What may stand in a head, so that nobody behind us reads more than one field, or one request, out of it. */
public final class FieldText {
    private FieldText() {}

    /** Whether a text holds no control characters (a tab where spaces may be), and nothing below {@code least}. */
    public static boolean isText(CharSequence text, char least) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < least && !(c == '\t' && least == ' ')) || c == 0x7f || c > 0xff) {
                return false;
            }
        }
        return true;
    }

    /** RFC 9110 §5.6.2. */
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

    /** Whether it is the target of a request that a server, not a proxy, gets. */
    public static boolean isTarget(String target) {
        return isText(target, '!') && (target.startsWith("/") || target.equals("*"));
    }
}
