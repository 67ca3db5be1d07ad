package dev.culvert.http.fields;

/**
 * Walks the members of a field value that is a list (RFC 9110 §5.6.1), in one pass and without a copy.
 * Callers choose these values, and HPACK makes them cheap to send. Therefore at most {@link #MAX_MEMBERS}
 * members, empty ones included, and {@link #MAX_CHARS} characters are read.
 */
public final class FieldList {
    /** The maximum number of members read. Legitimate lists have a tenth of that. */
    public static final int MAX_MEMBERS = 64;
    /** The maximum number of characters read. */
    static final int MAX_CHARS = 8192;

    private final CharSequence text;
    private final int end;
    private int members;
    private int next;
    private int from;
    private int to;

    public FieldList(CharSequence text) {
        this.text = text;
        this.end = Math.min(text.length(), MAX_CHARS);
    }

    /** Advances to the next member that is not empty. Returns false at the end of the list and at a bound. */
    public boolean next() {
        while (next < end && members < MAX_MEMBERS) {
            members++;
            int comma = next;
            while (comma < end && text.charAt(comma) != ',') {
                comma++;
            }
            from = skipSpace(text, next, comma);
            to = trimSpace(text, from, comma);
            next = comma + 1;
            boolean whole = comma < end || end == text.length();
            if (from < to && whole) {
                return true;
            }
        }
        return false;
    }

    /** Whether {@link #next} stopped at a bound, before the end of the list. */
    public boolean isCut() {
        return next < text.length() || end < text.length();
    }

    /** The index of the member's first character. */
    public int from() {
        return from;
    }

    /** The index after the member's last character. */
    public int to() {
        return to;
    }

    /** The member. */
    public CharSequence member() {
        return text.subSequence(from, to);
    }

    /** Whether the member equals {@code other}; letters compare without case. */
    public boolean is(CharSequence other) {
        return isRegion(text, from, to, other);
    }

    /** Whether a region of a text equals another text. US-ASCII letters compare without case. */
    static boolean isRegion(CharSequence text, int from, int to, CharSequence other) {
        if (to - from != other.length()) {
            return false;
        }
        for (int i = from; i < to; i++) {
            if (lower(text.charAt(i)) != lower(other.charAt(i - from))) {
                return false;
            }
        }
        return true;
    }

    private static char lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
    }

    /** Returns the index of the first character that is not white space (RFC 9110 §5.6.3), or {@code to}. */
    public static int skipSpace(CharSequence text, int from, int to) {
        int at = from;
        while (at < to && isSpace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /** Returns the index at which the trailing white space of a region begins. */
    static int trimSpace(CharSequence text, int from, int to) {
        int at = to;
        while (at > from && isSpace(text.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    /** White space in a field value (RFC 9110 §5.6.3). */
    public static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }
}
