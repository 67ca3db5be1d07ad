package dev.culvert.router;

import dev.culvert.edge.RawPath;
import dev.culvert.edge.config.ConfigException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * An upstream's URL whose host may hold variables.
 *
 * @param http2 whether the upstream is spoken to in HTTP/2 whatever the request is, without TLS ({@code h2c://})
 * @param host in lower case but for its variables
 * @param prefix put before the request's path: empty, or a raw path without a slash at its end
 */
record UpstreamTemplate(boolean tls, boolean http2, String host, int port, String prefix) {
    private static final String EXPECTED = "http://, https:// or h2c://host[:port], with or without a path, "
            + "without user, query or fragment; {namespace} and {eventSource} in the host alone";
    private static final Pattern NAME = Pattern
            .compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\\.?");

    /** Reads a URL. Throws ConfigException for the key {@code to}. */
    static UpstreamTemplate parse(String to) {
        try {
            // a variable is as good as any letter for what a URL may look like
            String plain = to.replace(PathPattern.NAMESPACE, "n0").replace(PathPattern.EVENT_SOURCE, "e0");
            UpstreamTemplate parsed = of(new URI(plain));
            return plain.equals(to)
                    ? parsed
                    : new UpstreamTemplate(parsed.tls, parsed.http2, host(to, parsed), parsed.port,
                            parsed.prefix);
        } catch (URISyntaxException e) {
            throw new ConfigException("to", EXPECTED);
        }
    }

    /** Takes a URL without variables. Throws ConfigException for the key {@code to}. */
    static UpstreamTemplate of(URI to) {
        String scheme = to.getScheme() == null ? "" : to.getScheme().toLowerCase(Locale.ROOT);
        String host = to.getHost() == null ? "" : to.getHost().toLowerCase(Locale.ROOT);
        String path = to.getRawPath() == null ? "" : to.getRawPath();
        boolean tls = scheme.equals("https");
        boolean http2 = scheme.equals("h2c");
        int port = to.getPort() < 0 ? (tls ? 443 : 80) : to.getPort();
        boolean literal = host.startsWith("[");
        if ((!tls && !http2 && !scheme.equals("http")) || port < 1 || port > 65535
                || to.getRawUserInfo() != null
                || to.getRawQuery() != null || to.getRawFragment() != null || !RawPath.wellFormed(path)
                || !(literal || (host.length() <= 253 && NAME.matcher(host).matches()))) {
            throw new ConfigException("to", EXPECTED);
        }
        String prefix = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return new UpstreamTemplate(tls, http2, literal ? host.substring(1, host.length() - 1) : host, port,
                prefix);
    }

    /** The host as written, with its variables; refuses them anywhere else. */
    private static String host(String to, UpstreamTemplate parsed) {
        int begin = to.indexOf("://") + 3;
        int end = begin;
        while (end < to.length() && "/:".indexOf(to.charAt(end)) < 0) {
            end++;
        }
        if (to.indexOf('{', end) >= 0 || to.substring(0, begin).indexOf('{') >= 0 || parsed.host.isEmpty()) {
            throw new ConfigException("to", EXPECTED);
        }
        return to.substring(begin, end)
                .toLowerCase(Locale.ROOT)
                .replace(PathPattern.EVENT_SOURCE.toLowerCase(Locale.ROOT), PathPattern.EVENT_SOURCE);
    }

    boolean hasVariables() {
        return host.contains(PathPattern.NAMESPACE) || host.contains(PathPattern.EVENT_SOURCE);
    }

    /** Throws ConfigException when there is a variable that the path does not have. */
    void requireVariablesOf(PathPattern path) {
        if (hasVariables() && !path.hasVariables()) {
            throw new ConfigException("to", "no {namespace} or {eventSource} but those of path");
        }
    }

    /** The address of an upstream without variables. */
    UpstreamAddress address() {
        return new UpstreamAddress(tls, http2, host, port);
    }

    /** The address for values that are DNS labels. Its labels may be too long: see {@link DnsLabel#fit}. */
    UpstreamAddress address(String namespace, String eventSource) {
        return new UpstreamAddress(tls, http2, host.replace(PathPattern.NAMESPACE, namespace)
                .replace(PathPattern.EVENT_SOURCE, eventSource), port);
    }
}
