package dev.culvert.relay.upstream;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The TLS contexts for connections to upstreams.
 *
 * @param http1 the context of HTTP/1.1 connections
 * @param http2 the context of HTTP/2 connections
 */
public record UpstreamTls(SslContext http1, SslContext http2) {

    /** Creates contexts with this trust. Reads files of authorities, so it must not run on an event loop. */
    public static UpstreamTls trusting(ServerTrust trust) {
        return new UpstreamTls(TlsContexts.client(trust, null, List.of(ApplicationProtocolNames.HTTP_1_1)),
                TlsContexts.client(trust, null, List.of(ApplicationProtocolNames.HTTP_2)));
    }

    /**
     * Creates contexts that trust the system's authorities, or returns null if no upstream uses TLS. Reads
     * the authorities, so it must not run on an event loop.
     */
    public static @Nullable UpstreamTls system(boolean needed) {
        return needed ? trusting(ServerTrust.inSystemRoots()) : null;
    }

    public SslContext context(boolean overHttp2) {
        return overHttp2 ? http2 : http1;
    }
}
