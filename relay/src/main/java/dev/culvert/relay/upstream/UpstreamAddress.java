package dev.culvert.relay.upstream;

import dev.culvert.config.UriHost;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
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
        UriHost host = UriHost.of(url);
        int given = host == null ? -1 : host.port();
        String path = url.getRawPath() == null ? "" : url.getRawPath();
        boolean tls = scheme.equals("https");
        boolean http2 = scheme.equals("h2c");
        int port = given < 0 ? (tls ? 443 : 80) : given;
        if (host == null || !(host.isLiteral() || UriHost.isName(host.name()))
                || (!tls && !http2 && !scheme.equals("http")) || port < 1 || port > 65535
                || url.getRawUserInfo() != null || !(path.isEmpty() || path.equals("/"))
                || url.getRawQuery() != null || url.getRawFragment() != null) {
            throw new IllegalArgumentException("expected: " + ACCEPTED + UriHost.fault(url.toString()));
        }
        return new UpstreamAddress(tls, http2, host.bare(), port);
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
