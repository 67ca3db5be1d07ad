package dev.culvert.edge.relay;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;

/**
 * The head of a relayed request.
 *
 * @param kind what the exchange carries
 * @param fields lower-case field names with {@code :method}, {@code :scheme}, {@code :authority} and {@code :path}
 *     first; no hop-by-hop fields, except that {@link Kind#UPGRADE} implies {@code connection: upgrade} and keeps
 *     {@code upgrade}. The receiver owns them and may change them
 * @param ended whether the request has no body: {@code end} must not be called any more
 * @param loop the event loop on which the exchange lives
 */
public record RelayRequest(Kind kind, Http2Headers fields, boolean ended, EventLoop loop) {

    /** What an exchange carries. */
    public enum Kind {
        /** One request and one response. */
        HTTP,
        /** A request to upgrade: after {@code :status 101} both bodies are raw bytes (WebSocket). */
        UPGRADE
    }
}
