package dev.culvert.http.fields;

/**
 * Walks the members of a field value that is a list (RFC 9110 §5.6.1), in one pass and without a copy. Callers choose these
 * values, and HPACK makes them cheap to send: no more than {@link #MAX_MEMBERS} members, empty ones included, and {@link
 * #MAX_CHARS} characters are looked at.
 */
public final class FieldList {
    /** Members looked at. Honest lists have a tenth of that. */
    public static final int MAX_MEMBERS = 64;
    /** Characters looked at. */
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

    /** Goes to the next member that is not empty. False at the end, and at the bound. */
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

    /** Whether the list goes on where {@link #next} has stopped. */
    public boolean isCut() {
        return next < text.length() || end < text.length();
    }

    /** Where the member begins. */
    public int from() {
        return from;
    }

    /** Where the member ends; its last character stands before this. */
    public int to() {
        return to;
    }

    /** The member. */
    public CharSequence member() {
        return text.subSequence(from, to);
    }

    /** Whether the member is this text, whatever the case of its letters. */
    public boolean is(CharSequence other) {
        return isRegion(text, from, to, other);
    }

    /** Whether a part of a text is another text, whatever the case of their letters, which are of US-ASCII. */
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

    /** Where the first character stands that is no white space (RFC 9110 §5.6.3). */
    public static int skipSpace(CharSequence text, int from, int to) {
        int at = from;
        while (at < to && isSpace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /** Where the white space begins that a part of a text ends with. */
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
