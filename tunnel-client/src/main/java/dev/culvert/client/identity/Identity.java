package dev.culvert.client.identity;

import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.handler.ssl.SslContext;
import java.time.Instant;
import java.util.List;

/**
 * Who this client is, and whom it believes. Prints without the key.
 *
 * @param material the client certificate with its key
 * @param client the account, runtime and runtime id in that certificate
 * @param trust which servers it dials
 */
public record Identity(TlsMaterial material, ClientIdentity client, ServerTrust trust) {

    /** When the certificate begins, which is a little before it was made. */
    public Instant begins() {
        return material.leaf().getNotBefore().toInstant();
    }

    /** When the certificate ends. */
    public Instant expires() {
        return material.leaf().getNotAfter().toInstant();
    }

    /** Whether the certificate has ended at {@code now}. */
    public boolean expiredAt(Instant now) {
        return now.isAfter(expires());
    }

    /** TLS for the tunnel's connections, HTTP/1.1. Reads the system's roots: not on an event loop. Make it once. */
    public SslContext tlsContext() {
        return TlsContexts.client(trust, material, List.of("http/1.1"));
    }
}
