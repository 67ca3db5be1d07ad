package dev.culvert.relay;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request. Parsed once, when the request arrives.
 *
 * @param address the caller's address, in front of all trusted proxies; null: unknown
 * @param account the address as quotas account for it
 * @param connection the connection that the request arrived on; null for requests that the gateway itself
 *     makes
 */
public record Caller(@Nullable InetAddress address, SourceAddress account, @Nullable Channel connection) {
    /** The caller of requests that the gateway itself makes. */
    public static final Caller UNKNOWN = new Caller(null, SourceAddress.UNKNOWN, null);

    /** Creates the caller with this address, whose request arrived on this connection. */
    public static Caller of(@Nullable InetAddress address, Channel connection) {
        return new Caller(address, SourceAddress.of(address), connection);
    }

    /** The TLS engine of the connection; null without TLS. Call on the connection's event loop. */
    public @Nullable SSLEngine tls() {
        SslHandler handler = connection == null ? null : connection.pipeline().get(SslHandler.class);
        return handler == null ? null : handler.engine();
    }
}
