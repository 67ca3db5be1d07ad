package dev.culvert.relay;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The head of a relayed request.
 *
 * @param kind the kind of traffic that the exchange carries
 * @param fields lower-case field names with {@code :method}, {@code :scheme}, {@code :authority} and
 *     {@code :path} first; no hop-by-hop fields, except that {@link Kind#UPGRADE} implies
 *     {@code connection: upgrade} and keeps {@code upgrade}; for {@link Kind#TCP} as {@link #tcp} creates
 *     them. The receiver owns them and may change them
 * @param ended whether the request has no body: {@code end} must not be called then
 * @param loop the event loop on which the exchange lives
 * @param caller its sender; {@link Caller#UNKNOWN} for requests that the gateway itself makes
 */
public record RelayRequest(Kind kind, Http2Headers fields, boolean ended, EventLoop loop,
        Caller caller) {

    /** A request without a caller, such as one that the gateway itself makes. */
    public RelayRequest(Kind kind, Http2Headers fields, boolean ended, EventLoop loop) {
        this(kind, fields, ended, loop, Caller.UNKNOWN);
    }

    /** The kind of traffic that an exchange carries. */
    public enum Kind {
        /** One request and one response. */
        HTTP,
        /** A request to upgrade. After {@code :status 101} both bodies are raw bytes (WebSocket). */
        UPGRADE,
        /**
         * A connection of raw bytes. After {@code :status 200} each body carries the bytes that one side
         * sent, and the body's end is that side's half-close. The response may still fail after its end,
         * which means that the connection was reset.
         */
        TCP
    }

    /** The field of a raw connection that names the requested service: a label below the runtime's host. */
    public static final AsciiString SERVICE = AsciiString.cached("culvert-service");

    /**
     * Creates the request of a raw connection.
     *
     * @param name the server name of the caller's TLS handshake, in lower case
     * @param service the first label of {@code name}, if the rest is a host of the runtime; null:
     *     {@code name} itself is a host of the runtime
     */
    public static RelayRequest tcp(String name, @Nullable String service, EventLoop loop,
            Caller caller) {
        Http2Headers fields = new DefaultHttp2Headers(false, 3).method("CONNECT").authority(name);
        if (service != null) {
            fields.set(SERVICE, service);
        }
        return new RelayRequest(Kind.TCP, fields, false, loop, caller);
    }
}
