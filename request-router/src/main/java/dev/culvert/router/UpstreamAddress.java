package dev.culvert.router;

/**
 * Where an upstream is, before its name is resolved, and what is spoken there; connections are pooled by it.
 *
 * @param tls whether it speaks TLS, under {@code host}'s name
 * @param http2 whether it is spoken to in HTTP/2: with prior knowledge, or agreed on by ALPN where there is TLS
 * @param host a name in lower case, or an address literal without brackets
 */
record UpstreamAddress(boolean tls, boolean http2, String host, int port) {

    /** The same place, in this protocol. */
    UpstreamAddress over(boolean http2) {
        return this.http2 == http2 ? this : new UpstreamAddress(tls, http2, host, port);
    }
}
