package dev.culvert.relay;

import java.net.InetAddress;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Who sent a request, as far as its connection tells.
 *
 * @param address where it came from, behind the proxies that are trusted; null: nobody can tell
 * @param tls the session of its connection; null without TLS
 * @param asked whether its TLS handshake was asked for a certificate
 */
public record Caller(@Nullable InetAddress address, @Nullable SSLSession tls, boolean asked) {}
