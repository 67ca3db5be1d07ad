package dev.culvert.config;

import java.net.URI;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Host and port of a URI, of hosts with underscores, too: {@link URI#getHost} knows none of {@code my_app} or
 * {@code stack_web.default_net}, as Compose and Swarm name services.
 *
 * @param name in lower case; an IPv6 address with its brackets
 * @param port -1 if the URI names none
 */
public record UriHost(String name, int port) {
    private static final Pattern NAME = Pattern
            .compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\\.?");
    private static final Pattern PORT = Pattern.compile(":[0-9]{0,5}");
    private static final int MAX_NAME = 253;

    /** Returns the host of a URI without user; null if it has none that is valid. */
    public static @Nullable UriHost of(URI uri) {
        if (uri.getHost() != null) {
            return new UriHost(uri.getHost().toLowerCase(Locale.ROOT), uri.getPort());
        }
        String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
        int colon = authority.indexOf(':');
        String name = (colon < 0 ? authority : authority.substring(0, colon)).toLowerCase(Locale.ROOT);
        String port = colon < 0 ? "" : authority.substring(colon);
        if (!isName(name) || !(port.isEmpty() || PORT.matcher(port).matches())) {
            return null;
        }
        return new UriHost(name, port.length() < 2 ? -1 : Integer.parseInt(port.substring(1)));
    }

    /** Whether a resolver takes it: labels of letters, digits, hyphens and underscores, in lower case. */
    public static boolean isName(String name) {
        return name.length() <= MAX_NAME && NAME.matcher(name).matches();
    }

    /** Whether it is an IPv6 address in brackets. */
    public boolean isLiteral() {
        return name.startsWith("[");
    }

    /** The name, an IPv6 address without its brackets. */
    public String bare() {
        return isLiteral() ? name.substring(1, name.length() - 1) : name;
    }

    /**
     * Says which character of a URL's host is not allowed, for the end of an error text; empty if the host is
     * not the fault.
     */
    public static String fault(String url) {
        int begin = url.indexOf("://");
        String rest = begin < 0 ? url : url.substring(begin + 3);
        for (int i = 0; i < rest.length() && "/?#:@[".indexOf(rest.charAt(i)) < 0; i++) {
            char c = rest.charAt(i);
            if (!(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
                    || "-_.{}".indexOf(c) >= 0)) {
                return "; '" + c + "' is no character of a host name";
            }
        }
        return "";
    }
}
