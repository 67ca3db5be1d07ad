package dev.culvert.http.path;

import org.jspecify.annotations.Nullable;

/** Validates the parts of host names that callers supply (RFC 1123 §2.1, lower case). */
public final class DnsLabel {
    private static final int MAX_LABEL = 63;
    private static final int MAX_NAME = 253;

    private DnsLabel() {}

    /** Decodes a raw path segment once. Returns the label, or null if the result is not a label. */
    public static @Nullable String decode(String segment) {
        StringBuilder label = new StringBuilder(segment.length());
        for (int i = 0; i < segment.length(); i++) {
            char c = segment.charAt(i);
            if (c == '%') {
                // well-formed, because the whole path is
                c = (char) Integer.parseInt(segment, i + 1, i + 3, 16);
                i += 2;
            }
            label.append(c);
        }
        return isLabel(label) ? label.toString() : null;
    }

    /** Whether a host name and each of its labels are within the length limits. */
    public static boolean fit(String host) {
        int label = 0;
        for (int i = 0; i < host.length(); i++) {
            label = host.charAt(i) == '.' ? 0 : label + 1;
            if (label > MAX_LABEL) {
                return false;
            }
        }
        return host.length() <= MAX_NAME;
    }

    private static boolean isLabel(CharSequence text) {
        int length = text.length();
        if (length == 0 || length > MAX_LABEL || text.charAt(0) == '-' || text.charAt(length - 1) == '-') {
            return false;
        }
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
                return false;
            }
        }
        return true;
    }
}
