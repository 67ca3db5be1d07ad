package dev.culvert.client.identity;

import dev.culvert.relay.tls.TlsLink;
import io.netty.handler.ssl.SslContext;

/** An identity with its TLS context, which is expensive to create. */
public record Credentials(Identity identity, SslContext tls) {
    /** Creates the TLS context, which belongs to this link. Blocks: reads the system's roots. */
    public static Credentials of(Identity identity, TlsLink link) {
        return new Credentials(identity, identity.tlsContext(link));
    }
}
