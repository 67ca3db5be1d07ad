package dev.culvert.relay;

import java.net.InetAddress;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request, as its connection identifies it.
 *
 * @param address the caller's address, in front of all trusted proxies; null: unknown
 * @param tls the TLS session of the connection; null without TLS
 * @param asked whether the TLS handshake asked the caller for a certificate
 */
public record Caller(@Nullable InetAddress address, @Nullable SSLSession tls, boolean asked) {}
