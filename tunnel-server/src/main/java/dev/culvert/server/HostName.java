package dev.culvert.server;

import java.util.Locale;
import java.util.regex.Pattern;

/** How host names are compared: in lower case, without port and trailing dot. */
public final class HostName {
    /** RFC 1035 §2.3.4, without the root's dot. */
    private static final int MAX_NAME = 253;
    private static final Pattern NAME = Pattern.compile(
            "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

    private HostName() {}

    /**
     * The host of an authority ({@code Host}, {@code :authority}) in its compared form. Never throws: what is no
     * authority compares equal to no runtime. Returns {@code authority} itself when it is in that form already.
     */
    public static String of(String authority) {
        int end = authority.length();
        int colon = authority.lastIndexOf(':');
        if (colon >= 0 && authority.indexOf(']', colon) < 0) {
            end = colon;
        }
        if (end > 0 && authority.charAt(end - 1) == '.') {
            end--;
        }
        return authority.substring(0, end).toLowerCase(Locale.ROOT);
    }

    /** The compared form of a custom host. Throws InvalidNameException when it is no DNS name. */
    public static String custom(String host) {
        String name = host.length() > MAX_NAME + 1 ? "" : host.toLowerCase(Locale.ROOT);
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()) {
            throw new InvalidNameException("hosts", "\"" + host.substring(0, Math.min(host.length(), 80))
                    + "\" is not a host name (expected: a DNS name without port, as git.example.com)");
        }
        return name;
    }
}
