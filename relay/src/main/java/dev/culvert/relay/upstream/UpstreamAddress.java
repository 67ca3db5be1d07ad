package dev.culvert.relay.upstream;

import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of an upstream, before its name is resolved, and the protocol used there. It is the key of the
 * connection pools.
 *
 * @param tls whether the upstream uses TLS, with {@code host} as its name
 * @param http2 whether HTTP/2 is used: negotiated by ALPN with TLS, with prior knowledge without TLS
 * @param host a name in lower case, or an address literal without brackets
 * @param ca the file of authorities that may sign its certificate; null: the router's default
 * @param filled whether values of callers are part of {@code host}
 */
public record UpstreamAddress(boolean tls, boolean http2, String host, int port, @Nullable Path ca,
        boolean filled) {
    /** What {@link #of} accepts. */
    public static final String ACCEPTED = "http://, https:// or h2c://host[:port], without user, path, query or fragment";

    private static final String OF_THE_CLUSTER = ".cluster.local";
    private static final Pattern NAME = Pattern
            .compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\\.?");
    private static final int MAX_NAME = 253;

    /** Creates an address whose certificate the default authorities may sign. */
    public UpstreamAddress(boolean tls, boolean http2, String host, int port) {
        this(tls, http2, host, port, null, false);
    }

    /**
     * Parses the URL of a whole server: {@link #ACCEPTED}. A path would be a border that callers could leave
     * with dot segments. Throws IllegalArgumentException.
     */
    public static UpstreamAddress of(URI url) {
        String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        String host = url.getHost() == null ? "" : url.getHost().toLowerCase(Locale.ROOT);
        String path = url.getRawPath() == null ? "" : url.getRawPath();
        boolean tls = scheme.equals("https");
        boolean http2 = scheme.equals("h2c");
        int port = url.getPort() < 0 ? (tls ? 443 : 80) : url.getPort();
        boolean literal = host.startsWith("[");
        boolean named = literal || (host.length() <= MAX_NAME && NAME.matcher(host).matches());
        if ((!tls && !http2 && !scheme.equals("http")) || !named || port < 1 || port > 65535
                || url.getRawUserInfo() != null || !(path.isEmpty() || path.equals("/"))
                || url.getRawQuery() != null || url.getRawFragment() != null) {
            throw new IllegalArgumentException("expected: " + ACCEPTED);
        }
        return new UpstreamAddress(tls, http2, literal ? host.substring(1, host.length() - 1) : host, port);
    }

    /** Returns the same address with or without HTTP/2. */
    public UpstreamAddress over(boolean http2) {
        return this.http2 == http2 ? this : new UpstreamAddress(tls, http2, host, port, ca, filled);
    }

    /** Returns the same address with these authorities. */
    public UpstreamAddress trusting(@Nullable Path authorities) {
        return new UpstreamAddress(tls, http2, host, port, authorities, filled);
    }

    /**
     * Returns the name to query DNS for when this upstream is dialled by {@code name}. Names with values of
     * callers, and names of cluster services, are absolute. The resolver would try them below the system's
     * search domains first, and a wildcard record there would receive the requests.
     */
    public String question(String name) {
        boolean whole = name.endsWith(OF_THE_CLUSTER) || (filled && name.equals(host));
        return whole && !name.endsWith(".") ? name + "." : name;
    }
}
