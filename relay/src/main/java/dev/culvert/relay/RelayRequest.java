package dev.culvert.relay;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The head of a relayed request.
 *
 * @param kind what the exchange carries
 * @param fields lower-case field names with {@code :method}, {@code :scheme}, {@code :authority} and {@code :path}
 *     first; no hop-by-hop fields, except that {@link Kind#UPGRADE} implies {@code connection: upgrade} and keeps
 *     {@code upgrade}; of {@link Kind#TCP} as {@link #tcp} makes them. The receiver owns them and may change them
 * @param ended whether the request has no body: {@code end} must not be called any more
 * @param loop the event loop on which the exchange lives
 * @param source the account of its caller; {@link SourceAddress#UNKNOWN} for requests of the gateway's own
 */
public record RelayRequest(Kind kind, Http2Headers fields, boolean ended, EventLoop loop,
        SourceAddress source) {

    /** A request whose caller has no address, or one that nobody asks for. */
    public RelayRequest(Kind kind, Http2Headers fields, boolean ended, EventLoop loop) {
        this(kind, fields, ended, loop, SourceAddress.UNKNOWN);
    }

    /** What an exchange carries. */
    public enum Kind {
        /** One request and one response. */
        HTTP,
        /** A request to upgrade: after {@code :status 101} both bodies are raw bytes (WebSocket). */
        UPGRADE,
        /**
         * A connection of raw bytes: after {@code :status 200} both bodies are what each side sent, and their ends its half
         * closes. The response may still fail after its end: the connection is reset.
         */
        TCP
    }

    /** The field of a raw connection that holds the service which its caller asked for, as a label below the runtime's host. */
    public static final AsciiString SERVICE = AsciiString.cached("culvert-service");

    /**
     * A raw connection.
     *
     * @param name the server name that the caller's TLS handshake asks for, in lower case
     * @param service its first label, where the rest is a host of the runtime; null: all of it is
     */
    public static RelayRequest tcp(String name, @Nullable String service, EventLoop loop,
            SourceAddress source) {
        Http2Headers fields = new DefaultHttp2Headers(false, 3).method("CONNECT").authority(name);
        if (service != null) {
            fields.set(SERVICE, service);
        }
        return new RelayRequest(Kind.TCP, fields, false, loop, source);
    }
}
