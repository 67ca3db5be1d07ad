package dev.culvert.relay.upstream;

import dev.culvert.certs.PemFiles;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.relay.tls.TlsLink;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The TLS contexts for connections to upstreams.
 *
 * @param http1 the context of HTTP/1.1 connections
 * @param http2 the context of HTTP/2 connections
 */
public record UpstreamTls(SslContext http1, SslContext http2) {

    /**
     * Creates contexts of a link with this trust. Reads files of authorities, so it must not run on an event
     * loop.
     */
    public static UpstreamTls trusting(ServerTrust trust, TlsLink link) {
        return new UpstreamTls(context(trust, ApplicationProtocolNames.HTTP_1_1, link),
                context(trust, ApplicationProtocolNames.HTTP_2, link));
    }

    /** Creates contexts that trust the authorities of a PEM file. Reads it, so not on an event loop. */
    public static UpstreamTls inFile(Path ca, TlsLink link) {
        return trusting(ServerTrust.inAuthorities(PemFiles.readCertificates(ca)), link);
    }

    /** Creates contexts that accept any certificate, which the operator asked for. */
    public static UpstreamTls unverified(TlsLink link) {
        return new UpstreamTls(
                link.context(
                        hybrid -> TlsContexts.unverified(List.of(ApplicationProtocolNames.HTTP_1_1), hybrid)),
                link.context(
                        hybrid -> TlsContexts.unverified(List.of(ApplicationProtocolNames.HTTP_2), hybrid)));
    }

    private static SslContext context(ServerTrust trust, String protocol, TlsLink link) {
        return link.context(
                hybridOnly -> TlsContexts.client(trust, null, List.of(protocol), hybridOnly));
    }

    /**
     * Creates contexts that trust the system's authorities, or returns null if no upstream uses TLS. Reads
     * the authorities, so it must not run on an event loop.
     */
    public static @Nullable UpstreamTls system(boolean needed, TlsLink link) {
        return needed ? trusting(ServerTrust.inSystemRoots(), link) : null;
    }

    public SslContext context(boolean overHttp2) {
        return overHttp2 ? http2 : http1;
    }
}
