package dev.culvert.server.runtime;

import java.util.Locale;
import java.util.regex.Pattern;

/** Parses custom host names: names that a runtime has besides its own host. */
final class CustomHost {
    /** RFC 1035 §2.3.4, without the root's dot. */
    private static final int MAX_NAME = 253;
    private static final Pattern NAME = Pattern.compile(
            "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

    private CustomHost() {}

    /**
     * Returns {@code host} in its compared form: lower case, without a trailing dot. Throws
     * InvalidNameException when it is not a DNS name.
     */
    static String parse(String host) {
        String name = host.length() > MAX_NAME + 1 ? "" : host.toLowerCase(Locale.ROOT);
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()) {
            throw new InvalidNameException("hosts", "\"" + host.substring(0, Math.min(host.length(), 80))
                    + "\" is not a host name (expected: a DNS name without port, as git.example.com)");
        }
        return name;
    }
}
