package dev.culvert.relay.observe;

/** Texts of callers as they are logged and shown: one line of printable ASCII without quotes. */
public final class LoggedText {
    private static final String HEX = "0123456789abcdef";
    private static final String CUT = "...";

    private LoggedText() {}

    /**
     * Converts a text so that callers cannot forge lines or keys: other characters are written as {@code
     * \xHH}, and what follows {@code most} characters is replaced by {@code ...}.
     */
    public static String of(CharSequence value, int most) {
        int length = Math.min(value.length(), most);
        int plain = 0;
        while (plain < length && isPlain(value.charAt(plain))) {
            plain++;
        }
        if (plain == value.length()) {
            return value.toString();
        }
        var text = new StringBuilder(length + 16).append(value, 0, plain);
        for (int i = plain; i < length; i++) {
            char c = value.charAt(i);
            if (isPlain(c)) {
                text.append(c);
            } else if (c > 0xff) {
                hex(hex(text.append("\\u"), c >> 8), c);
            } else {
                hex(text.append("\\x"), c);
            }
        }
        return (length < value.length() ? text.append(CUT) : text).toString();
    }

    private static boolean isPlain(char c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    }

    private static StringBuilder hex(StringBuilder text, int octet) {
        return text.append(HEX.charAt(octet >> 4 & 0xf)).append(HEX.charAt(octet & 0xf));
    }
}
