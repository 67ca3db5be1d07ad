package dev.culvert.client.identity;

import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.relay.tls.TlsLink;
import io.netty.handler.ssl.SslContext;
import java.time.Instant;
import java.util.List;

/**
 * The identity of this client and its trust in servers. {@code toString} omits the key.
 *
 * @param material the client certificate with its key
 * @param client the account, runtime and runtime id in that certificate
 * @param trust the trust in servers
 */
public record Identity(TlsMaterial material, ClientIdentity client, ServerTrust trust) {

    /** The start of the certificate's validity, shortly before its issue. */
    public Instant begins() {
        return material.leaf().getNotBefore().toInstant();
    }

    /** The expiry of the certificate. */
    public Instant expires() {
        return material.leaf().getNotAfter().toInstant();
    }

    /** Whether the certificate has expired at {@code now}. */
    public boolean expiredAt(Instant now) {
        return now.isAfter(expires());
    }

    /**
     * Creates the TLS context of the tunnel's connections, for HTTP/1.1. Reads the system's roots, so it must
     * not run on an event loop. Call it once.
     *
     * @param link the tunnel's TLS
     */
    public SslContext tlsContext(TlsLink link) {
        return link.context(
                hybridOnly -> TlsContexts.client(trust, material, List.of("http/1.1"), hybridOnly));
    }
}
