package dev.culvert.handlers.spi;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A response. Trailers and upgrades are cases of this type, not flags. */
public sealed interface EdgeResponse {

    /**
     * An ordinary response.
     *
     * @param status the final status
     * @param headers its header fields; with a Content-Length, the body must have exactly that number of
     *     bytes
     * @param body its body, demanded at the caller's pace; it owns its buffers until it has emitted them. If
     *     it fails, the response is reset, so that the caller sees a truncated body. If the body is not sent
     *     (HEAD, 204, 304, a disconnected caller), it is subscribed and cancelled at once
     * @param trailers its trailers, subscribed after the body; only those that a {@code Trailer} field names
     *     are sent
     * @param hold what the response keeps until the socket has taken all of it: subscribed before the body,
     *     and cancelled when the response is written or the caller has disconnected. If it fails, the
     * response
     *     is reset. It does not complete, its signals do not block, and a repeated cancellation has no effect
     */
    record Http(HttpResponseStatus status, HttpHeaders headers, Flux<ByteBuf> body,
            Mono<HttpHeaders> trailers, Mono<Void> hold)
            implements
                EdgeResponse {
        /** The hold of a response that keeps nothing. */
        public static final Mono<Void> NOTHING = Mono.never();

        /** A response that keeps nothing. */
        public Http(HttpResponseStatus status, HttpHeaders headers, Flux<ByteBuf> body,
                Mono<HttpHeaders> trailers) {
            this(status, headers, body, trailers, NOTHING);
        }

        /** A response with a streamed body. */
        public static Http streaming(HttpResponseStatus status, HttpHeaders headers, Flux<ByteBuf> body) {
            return new Http(status, headers, body, Mono.empty());
        }

        /** A response with a body in memory. The body is not copied. */
        public static Http of(HttpResponseStatus status, String mediaType, byte[] body) {
            HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, mediaType)
                    .set(HttpHeaderNames.CONTENT_LENGTH, body.length);
            return streaming(status, headers, Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body))));
        }

        /** A response without a body. */
        public static Http empty(HttpResponseStatus status) {
            HttpHeaders headers = new DefaultHttpHeaders();
            if (status.code() != 204 && status.code() != 304) {
                headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
            }
            return streaming(status, headers, Flux.empty());
        }

        /** This response with something that it keeps. */
        public Http holding(Mono<Void> kept) {
            return new Http(status, headers, body, trailers, kept);
        }

        /** This response with one more header field. */
        public Http with(CharSequence name, Object value) {
            headers.add(name, value);
            return this;
        }
    }

    /**
     * An accepted WebSocket upgrade (RFC 6455). If the request does not ask for an upgrade, it is answered
     * 426 instead.
     *
     * @param headers further fields of the 101 response, for example {@code sec-websocket-protocol}
     * @param exchange maps the received frames to those to send; the receiver of a frame owns it in both
     *     directions. The connection is closed when the result ends
     */
    record WebSocket(HttpHeaders headers, Function<Flux<WebSocketFrame>, Flux<WebSocketFrame>> exchange)
            implements
                EdgeResponse {}
}
