package dev.culvert.http.fields;

import io.netty.util.NetUtil;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The hosts that a listener for operators is called by: addresses, {@code localhost} and configured names. A
 * web page can let its own name resolve to the listener's address (DNS rebinding); its requests carry that
 * name. Immutable.
 */
public final class AllowedHosts {
    private static final int MAX_NAME = 253;
    private static final Pattern NAME = Pattern
            .compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");
    private static final Pattern PORT = Pattern.compile("[0-9]{0,5}");

    private final Set<String> names;

    private AllowedHosts(Set<String> names) {
        this.names = names;
    }

    /**
     * Creates the list.
     *
     * @param names DNS names without port, beside addresses and {@code localhost}
     * @throws IllegalArgumentException if one is no DNS name; the message says what was expected
     */
    public static AllowedHosts of(Collection<String> names) {
        return new AllowedHosts(names.stream().map(AllowedHosts::checked).collect(Collectors.toSet()));
    }

    private static String checked(String name) {
        String host = HostName.of(name);
        if (name.indexOf(':') >= 0 || host.length() > MAX_NAME || !NAME.matcher(host).matches()) {
            throw new IllegalArgumentException(
                    name + " (expected: a DNS name without port, as gateway.example.com)");
        }
        return host;
    }

    /** Whether a request with this {@code Host} field is meant for the listener. False without the field. */
    public boolean has(@Nullable String authority) {
        if (authority == null) {
            return false;
        }
        int bracket = authority.lastIndexOf(']');
        int colon = authority.indexOf(':', bracket + 1);
        if (colon >= 0 && !PORT.matcher(authority.substring(colon + 1)).matches()) {
            return false;
        }
        String host = colon < 0 ? authority : authority.substring(0, colon);
        if (host.startsWith("[")) {
            return host.endsWith("]") && NetUtil.isValidIpV6Address(host.substring(1, host.length() - 1));
        }
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        String compared = name.toLowerCase(Locale.ROOT);
        return compared.equals("localhost") || NetUtil.isValidIpV4Address(compared)
                || names.contains(compared);
    }
}
