package dev.culvert.relay.upstream;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS towards upstreams.
 *
 * @param http1 for connections in HTTP/1.1
 * @param http2 for connections in HTTP/2
 */
public record UpstreamTls(SslContext http1, SslContext http2) {

    /** Trusts whom it is told to. Reads files of authorities: not for an event loop. */
    public static UpstreamTls trusting(ServerTrust trust) {
        return new UpstreamTls(TlsContexts.client(trust, null, List.of(ApplicationProtocolNames.HTTP_1_1)),
                TlsContexts.client(trust, null, List.of(ApplicationProtocolNames.HTTP_2)));
    }

    /** Trusts whom the system trusts, if any upstream speaks TLS. Reads the authorities: not for an event loop. */
    public static @Nullable UpstreamTls system(boolean needed) {
        return needed ? trusting(ServerTrust.inSystemRoots()) : null;
    }

    public SslContext context(boolean overHttp2) {
        return overHttp2 ? http2 : http1;
    }
}
