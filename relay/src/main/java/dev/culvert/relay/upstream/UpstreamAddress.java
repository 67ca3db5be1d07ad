package dev.culvert.relay.upstream;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where an upstream is, before its name is resolved, and what is spoken there; connections are pooled by it.
 *
 * @param tls whether it speaks TLS, under {@code host}'s name
 * @param http2 whether it is spoken to in HTTP/2: with prior knowledge, or agreed on by ALPN where there is TLS
 * @param host a name in lower case, or an address literal without brackets
 * @param ca the authorities that its certificate may come from; null: the router's usual ones
 * @param filled whether callers wrote parts of {@code host}
 */
public record UpstreamAddress(boolean tls, boolean http2, String host, int port, @Nullable Path ca,
        boolean filled) {
    private static final String OF_THE_CLUSTER = ".cluster.local";

    /** One whose certificate may come from the usual authorities. */
    public UpstreamAddress(boolean tls, boolean http2, String host, int port) {
        this(tls, http2, host, port, null, false);
    }

    /** The same place, in this protocol. */
    public UpstreamAddress over(boolean http2) {
        return this.http2 == http2 ? this : new UpstreamAddress(tls, http2, host, port, ca, filled);
    }

    /** The same, trusting these authorities. */
    public UpstreamAddress trusting(@Nullable Path authorities) {
        return new UpstreamAddress(tls, http2, host, port, authorities, filled);
    }

    /**
     * What DNS is asked for where this upstream is dialled by a name. What callers wrote a part of, and names of a cluster's
     * services, are whole: tried below the system's search domains first, a wildcard there would get the requests.
     */
    public String question(String name) {
        boolean whole = name.endsWith(OF_THE_CLUSTER) || (filled && name.equals(host));
        return whole && !name.endsWith(".") ? name + "." : name;
    }
}
