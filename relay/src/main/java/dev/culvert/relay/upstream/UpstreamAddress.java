package dev.culvert.relay.upstream;

import java.nio.file.Path;
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
    private static final String OF_THE_CLUSTER = ".cluster.local";

    /** Creates an address whose certificate the default authorities may sign. */
    public UpstreamAddress(boolean tls, boolean http2, String host, int port) {
        this(tls, http2, host, port, null, false);
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
