package dev.culvert.http.net;

import io.netty.handler.ssl.SslHandler;

/**
 * The names of the handlers in Culvert's pipelines, for Netty's logs and look-ups. Each entry lists one kind
 * of connection from its socket inwards. The handlers behind {@code →} replace those marked {@code *}.
 *
 * <pre>
 * edge           proxyHeader* → lingeringClose handshakeSlot* deadCaller closeNotify serverName* tls
 *                protocol*
 *                → http1Decoder http1Encoder http1 | headBlocks http2
 * raw connection proxyHeader* → lingeringClose deadCaller raw
 * tunnel server  proxyHeader* → handshakeSlot* handshakeTurn* tls http1Decoder* http1Encoder*
 *                enrolmentBody* tunnelHandshake* → (Netty's WebSocket codec) webSocketMessage session
 * handlers       tls (Reactor Netty's, its codec replaced:) bytes http1Encoder httpCodec guard
 *                httpTrafficHandler
 * shared port    as edge; a tunnel's request → handshakeTurn* deadCaller tls http1Decoder* http1Encoder*
 *                enrolmentBody* tunnelHandshake* → as tunnel server
 * tunnel client  outboundProxy connectWait* tls http* refusalBody* tunnelHandshake*
 *                → (Netty's WebSocket codec) webSocketMessage session
 * upstream       tls http1Decoder http1 | headBlocks http2 | raw
 * </pre>
 */
public final class HandlerNames {
    public static final String PROXY_HEADER = "culvert.proxyHeader";
    public static final String HANDSHAKE_TURN = "culvert.handshakeTurn";
    public static final String HANDSHAKE_SLOT = "culvert.handshakeSlot";
    public static final String DEAD_CALLER = "culvert.deadCaller";
    public static final String CLOSE_NOTIFY = "culvert.closeNotify";
    public static final String LINGERING_CLOSE = "culvert.lingeringClose";
    public static final String SERVER_NAME = "culvert.serverName";
    /** The name that Netty's SniHandler gives, so that it is the same with and without server names. */
    public static final String TLS = SslHandler.class.getName();
    public static final String PROTOCOL = "culvert.protocol";
    public static final String HTTP1_DECODER = "culvert.http1Decoder";
    public static final String HTTP1_ENCODER = "culvert.http1Encoder";
    public static final String HTTP1 = "culvert.http1";
    public static final String HEAD_BLOCKS = "culvert.headBlocks";
    public static final String HTTP2 = "culvert.http2";
    public static final String RAW = "culvert.raw";
    public static final String HTTP = "culvert.http";
    public static final String ENROLMENT_BODY = "culvert.enrolmentBody";
    public static final String REFUSAL_BODY = "culvert.refusalBody";
    public static final String TUNNEL_HANDSHAKE = "culvert.tunnelHandshake";
    public static final String WEB_SOCKET_MESSAGE = "culvert.webSocketMessage";
    public static final String SESSION = "culvert.session";
    public static final String OUTBOUND_PROXY = "culvert.outboundProxy";
    public static final String CONNECT_WAIT = "culvert.connectWait";

    private HandlerNames() {}
}
