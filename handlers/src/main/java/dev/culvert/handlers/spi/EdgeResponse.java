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

/** An answer: trailers and upgrades are cases, not flags. */
public sealed interface EdgeResponse {

    /**
     * An ordinary response.
     *
     * @param status the final status
     * @param headers its header fields; with a Content-Length, the body must have exactly so many bytes
     * @param body its body, demanded as the caller reads it; it owns its buffers until it has emitted them. If it fails
     *     the response is reset, so that the caller sees a truncated body. Where it is not sent (HEAD, 204, 304, a
     *     caller that left) it is subscribed and cancelled at once
     * @param trailers its trailers, subscribed after the body; sent only as far as a {@code Trailer} field names them
     */
    record Http(HttpResponseStatus status, HttpHeaders headers, Flux<ByteBuf> body,
            Mono<HttpHeaders> trailers)
            implements
                EdgeResponse {

        /** A response with a streamed body. */
        public static Http streaming(HttpResponseStatus status, HttpHeaders headers, Flux<ByteBuf> body) {
            return new Http(status, headers, body, Mono.empty());
        }

        /** A response with a body at hand. The body is not copied. */
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

        /** This response with one more header field. */
        public Http with(CharSequence name, Object value) {
            headers.add(name, value);
            return this;
        }
    }

    /**
     * An accepted WebSocket upgrade (RFC 6455). A request that asks for none is answered 426 in its place.
     *
     * @param headers further fields of the 101 response, as {@code sec-websocket-protocol}
     * @param exchange turns the frames received into those to send; both directions own the frames they are handed.
     *     The connection is closed when its result ends
     */
    record WebSocket(HttpHeaders headers, Function<Flux<WebSocketFrame>, Flux<WebSocketFrame>> exchange)
            implements
                EdgeResponse {}
}
