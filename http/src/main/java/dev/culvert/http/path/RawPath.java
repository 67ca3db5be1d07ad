package dev.culvert.http.path;

/**
 * Validates paths that are matched raw. Refuses paths that another server might interpret differently, so
 * that the upstream serves the path that was matched.
 */
public final class RawPath {
    private RawPath() {}

    /**
     * Whether {@code path} can be matched as it stands: no dot segment (raw or encoded, as {@code ..%2f};
     * with parameters, as {@code ..;x}), no backslash (raw or encoded), no control or non-ASCII byte, no
     * {@code %00}, no broken escape, no fragment.
     */
    public static boolean wellFormed(String path) {
        int segment = 0;
        int dots = 0;
        for (int i = 0; i < path.length(); i++) {
            int c = path.charAt(i);
            if (c <= ' ' || c >= 0x7f || c == '\\' || c == '#') {
                return false;
            }
            if (c == '%') {
                c = decoded(path, i);
                if (c <= 0 || c == '\\') {
                    return false;
                }
                i += 2;
            }
            if (c == '/') { // an encoded one ends a dot segment too: an upstream may decode before it normalises
                if (dotSegment(segment, dots)) {
                    return false;
                }
                segment = 0;
                dots = 0;
                continue;
            }
            if (c == ';' && dotSegment(segment, dots)) { // servers drop parameters before they normalise
                return false;
            }
            segment++;
            dots += c == '.' ? 1 : 0;
        }
        return !dotSegment(segment, dots);
    }

    private static boolean dotSegment(int length, int dots) {
        return length == dots && (dots == 1 || dots == 2);
    }

    /** The byte that the escape at {@code index} stands for, or -1 if it is broken. */
    private static int decoded(String path, int index) {
        if (index + 2 >= path.length()) {
            return -1;
        }
        int high = digit(path.charAt(index + 1));
        int low = digit(path.charAt(index + 2));
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }

    /** The value of a hexadecimal digit in ASCII, or -1. Digits of other scripts are not accepted. */
    private static int digit(char c) {
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }
}
