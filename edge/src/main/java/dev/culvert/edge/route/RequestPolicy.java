package dev.culvert.edge.route;

import dev.culvert.edge.config.ConfigException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which methods and paths may be reached from outside. What is denied is refused, however its path is written: rules look
 * at what an upstream could make of it, with escapes decoded, empty segments and {@code ;parameters} dropped. What
 * is to be allowed must be so as it stands and decoded. Immutable, safe for use by any thread.
 *
 * @param allow nothing listed: everything that is not denied
 * @param deny wins over {@code allow}
 */
public record RequestPolicy(List<RequestRule> allow, List<RequestRule> deny) {
    /** Everything may be reached that has a route. */
    public static final RequestPolicy OPEN = new RequestPolicy(List.of(), List.of());

    /** Requests look at them one by one. */
    private static final int MAX_RULES = 100;
    /** An upstream behind two gateways may decode as often. */
    private static final int DECODINGS = 3;

    public RequestPolicy {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
        if (allow.size() > MAX_RULES) {
            throw new ConfigException("allow", "at most " + MAX_RULES + " rules");
        }
        if (deny.size() > MAX_RULES) {
            throw new ConfigException("deny", "at most " + MAX_RULES + " rules");
        }
    }

    /** Whether a request may go on. The path is one that {@link dev.culvert.edge.RawPath#wellFormed} accepted. */
    public boolean allows(String method, String path) {
        if (allow.isEmpty() && deny.isEmpty()) {
            return true;
        }
        List<String> plain = segments(path);
        if (plain == null) {
            return false;
        }
        for (RequestRule rule : deny) {
            if (rule.takesMethod(method) && rule.path().matches(plain)) {
                return false;
            }
        }
        for (RequestRule rule : allow) {
            if (rule.takesMethod(method) && rule.path().match(path) >= 0 && rule.path().matches(plain)) {
                return true;
            }
        }
        return allow.isEmpty();
    }

    /** The segments that an upstream may see; null: among them are dot segments. */
    private static @Nullable List<String> segments(String path) {
        String decoded = path;
        for (int i = 0; i < DECODINGS && decoded.indexOf('%') >= 0; i++) {
            decoded = decoded(decoded);
        }
        List<String> segments = new ArrayList<>();
        for (String segment : decoded.replace('\\', '/').split("/", -1)) {
            int parameters = segment.indexOf(';');
            String plain = parameters < 0 ? segment : segment.substring(0, parameters);
            if (plain.equals(".") || plain.equals("..")) {
                return null;
            }
            if (!plain.isEmpty()) {
                segments.add(plain);
            }
        }
        return segments;
    }

    private static String decoded(String text) {
        StringBuilder decoded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
            int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
            if (c == '%' && high >= 0 && low >= 0) {
                decoded.append((char) (high << 4 | low));
                i += 2;
            } else {
                decoded.append(c);
            }
        }
        return decoded.toString();
    }
}
