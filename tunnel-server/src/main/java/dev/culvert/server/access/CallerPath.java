package dev.culvert.server.access;

import java.util.ArrayList;
import java.util.List;

/**
 * The path of a request, read in two ways: literally, and as the most lenient server might read it, which
 * decodes escapes repeatedly, treats backslashes as slashes, drops empty segments, and cuts segments at
 * semicolons. Rules are plain. Therefore, if both readings match the same rule, every reading between them
 * does.
 */
final class CallerPath {
    /** The maximum number of escape layers. Legitimate paths have fewer. */
    private static final int MAX_LAYERS = 3;

    private final List<String> raw;
    private final List<String> lenient;
    private final boolean devious;

    private CallerPath(List<String> raw, List<String> lenient, boolean devious) {
        this.raw = raw;
        this.lenient = lenient;
        this.devious = devious;
    }

    /** @param target a request's target: a path and perhaps a query; {@code *} is like {@code /} */
    static CallerPath of(String target) {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        path = path.startsWith("/") ? path : "/";
        List<String> raw = List.of(path.substring(1).split("/", -1));
        String decoded = path;
        int layers = 0;
        while (decoded.indexOf('%') >= 0 && layers++ < MAX_LAYERS) {
            String next = decoded(decoded);
            if (next.equals(decoded)) {
                break;
            }
            decoded = next;
        }
        List<String> lenient = new ArrayList<>();
        boolean devious = decoded.length() != decoded(decoded).length() || isOverlong(decoded);
        for (String segment : decoded.replace('\\', '/').split("/", -1)) {
            int cut = segment.indexOf(';');
            String plain = (cut < 0 ? segment : segment.substring(0, cut)).strip();
            devious |= plain.equals("..") || plain.indexOf('\0') >= 0;
            if (!plain.isEmpty() && !plain.equals(".")) {
                lenient.add(plain);
            }
        }
        return new CallerPath(raw, lenient, devious);
    }

    /** Whether the path has dot-dot segments or is obscured, so that no rule can safely match it. */
    boolean isDevious() {
        return devious;
    }

    List<String> raw() {
        return raw;
    }

    List<String> lenient() {
        return lenient;
    }

    /** Decodes one layer of escapes; each byte becomes one character. Invalid escapes stay. */
    private static String decoded(String path) {
        var text = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            int high = c == '%' && i + 2 < path.length() ? digit(path.charAt(i + 1)) : -1;
            int low = high < 0 ? -1 : digit(path.charAt(i + 2));
            if (low < 0) {
                text.append(c);
            } else {
                text.append((char) (high << 4 | low));
                i += 2;
            }
        }
        return text.toString();
    }

    private static int digit(char c) {
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }

    /**
     * Whether the bytes contain overlong UTF-8, which writes {@code /} and other characters with more bytes
     * than needed. Valid UTF-8 has no such bytes.
     */
    private static boolean isOverlong(String bytes) {
        return bytes.indexOf(0xc0) >= 0 || bytes.indexOf(0xc1) >= 0;
    }
}
