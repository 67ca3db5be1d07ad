package dev.culvert.client.identity;

import io.netty.handler.ssl.SslContext;

/** An identity with the TLS context made of it, which is not cheap to make. */
public record Credentials(Identity identity, SslContext tls) {
    /** Blocks: reads the system's roots. */
    public static Credentials of(Identity identity) {
        return new Credentials(identity, identity.tlsContext());
    }
}
