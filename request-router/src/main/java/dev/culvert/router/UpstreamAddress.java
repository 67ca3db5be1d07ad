package dev.culvert.router;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where an upstream is, before its name is resolved, and what is spoken there; connections are pooled by it.
 *
 * @param tls whether it speaks TLS, under {@code host}'s name
 * @param http2 whether it is spoken to in HTTP/2: with prior knowledge, or agreed on by ALPN where there is TLS
 * @param host a name in lower case, or an address literal without brackets
 * @param ca the authorities that its certificate may come from; null: the router's usual ones
 */
record UpstreamAddress(boolean tls, boolean http2, String host, int port, @Nullable Path ca) {

    /** One whose certificate may come from the usual authorities. */
    UpstreamAddress(boolean tls, boolean http2, String host, int port) {
        this(tls, http2, host, port, null);
    }

    /** The same place, in this protocol. */
    UpstreamAddress over(boolean http2) {
        return this.http2 == http2 ? this : new UpstreamAddress(tls, http2, host, port, ca);
    }

    /** The same, trusting these authorities. */
    UpstreamAddress trusting(@Nullable Path authorities) {
        return new UpstreamAddress(tls, http2, host, port, authorities);
    }
}
