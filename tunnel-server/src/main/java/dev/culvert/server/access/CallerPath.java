package dev.culvert.server.access;

import java.util.ArrayList;
import java.util.List;

/**
 * The path of a request, read twice: as it stands, and as the most lenient of servers might read it, which decodes escapes
 * again and again, takes backslashes for slashes, drops empty segments, and cuts segments off at semicolons. Rules are
 * plain, so that whatever lies between the two readings meets the same rule when both do.
 */
final class CallerPath {
    /** More layers of escapes than this have no honest reason. */
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

    /** Whether a path climbs, or hides what it is: no rule can be trusted to meet it. */
    boolean isDevious() {
        return devious;
    }

    List<String> raw() {
        return raw;
    }

    List<String> lenient() {
        return lenient;
    }

    /** One layer of escapes less; each byte becomes one character. What is no escape stays. */
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

    /** These bytes are in no UTF-8 but that which writes {@code /} and the like with more bytes than needed. */
    private static boolean isOverlong(String bytes) {
        return bytes.indexOf(0xc0) >= 0 || bytes.indexOf(0xc1) >= 0;
    }
}
