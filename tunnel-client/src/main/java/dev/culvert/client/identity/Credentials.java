package dev.culvert.client.identity;

import io.netty.handler.ssl.SslContext;

/** An identity with its TLS context, which is expensive to create. */
public record Credentials(Identity identity, SslContext tls) {
    /** Creates the TLS context. Blocks: reads the system's roots. */
    public static Credentials of(Identity identity) {
        return new Credentials(identity, identity.tlsContext());
    }
}
