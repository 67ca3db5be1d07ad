package dev.culvert.http.forwarding;

import java.util.List;

/**
 * Checks whether an element may be appended to a {@code Forwarded} field (RFC 7239 §4). An unterminated
 * quoted string would swallow the appended element. Values that other proxies leave unquoted ({@code
 * for=[2001:db8::1]}) are accepted.
 */
final class ForwardedField {
    private static final String NO_TOKEN = "\"(),/:;<=>?@[\\]{}";
    private static final String ENDS_VALUE = "\",;\\ \t";

    private final String text;
    private int at;

    private ForwardedField(String text) {
        this.text = text;
    }

    /** Whether each value is a list of elements; the list may be empty. */
    static boolean areElements(List<CharSequence> values) {
        return values.stream().allMatch(value -> new ForwardedField(value.toString()).isList());
    }

    private boolean isList() {
        skipSpace();
        while (at < text.length()) {
            if (!isSeparator() && !isPair()) {
                return false;
            }
            skipSpace();
            if (at < text.length() && !isSeparator()) {
                return false;
            }
            while (at < text.length() && isSeparator()) {
                at++;
                skipSpace();
            }
        }
        return true;
    }

    private boolean isSeparator() {
        return text.charAt(at) == ',' || text.charAt(at) == ';';
    }

    private void skipSpace() {
        while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
            at++;
        }
    }

    private boolean isPair() {
        int start = at;
        while (at < text.length() && isTokenCharacter(text.charAt(at))) {
            at++;
        }
        if (at == start || at == text.length() || text.charAt(at) != '=') {
            return false;
        }
        at++;
        return at < text.length() && (text.charAt(at) == '"' ? isQuoted() : isPlain());
    }

    private static boolean isTokenCharacter(char c) {
        return c > ' ' && c < 0x7f && NO_TOKEN.indexOf(c) < 0;
    }

    private boolean isPlain() {
        int start = at;
        while (at < text.length() && ENDS_VALUE.indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return at > start;
    }

    private boolean isQuoted() {
        at++;
        while (at < text.length() && text.charAt(at) != '"') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
        return at <= text.length();
    }
}
