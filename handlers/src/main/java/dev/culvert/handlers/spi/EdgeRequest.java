package dev.culvert.handlers.spi;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A request at the edge.
 *
 * @param method the method
 * @param target the request target in origin form, exactly as received, so that the matched target is the
 *     forwarded one
 * @param headers the header fields; the handler may change them
 * @param body the body, read from the socket on demand; can be subscribed once. The subscriber owns each
 *     buffer and must cancel if it needs no more. A body that is never subscribed is dropped after the
 *     response
 * @param context the context of the request
 */
public record EdgeRequest(HttpMethod method, String target, HttpHeaders headers, Flux<ByteBuf> body,
        RequestContext context) {
    private static final Duration GRACE = Duration.ofSeconds(20);
    private static final int BYTES_PER_SECOND = 32 << 10;

    /** The raw path of the target: all characters before the first {@code ?}. */
    public String path() {
        int question = target.indexOf('?');
        return question < 0 ? target : target.substring(0, question);
    }

    /** The raw query of the target without the {@code ?}, or null if there is no {@code ?}. */
    public @Nullable String query() {
        int question = target.indexOf('?');
        return question < 0 ? null : target.substring(question + 1);
    }

    /** This request with another context. */
    public EdgeRequest withContext(RequestContext other) {
        return new EdgeRequest(method, target, headers, body, other);
    }

    /**
     * Reads the whole body into memory. Cancelling stops reading. Errors: {@link HandlerException} with
     * {@code BODY_TOO_LARGE} as soon as more than {@code maxBytes} are announced or seen; {@code
     * REQUEST_TIMEOUT} if the body is not there within 20 s and one more second for each 32 KiB of {@code
     * maxBytes}, however it trickles. Never empty: without a body the array is empty.
     */
    public Mono<byte[]> aggregate(int maxBytes) {
        return Mono.defer(() -> {
            if (announcedBytes() > maxBytes) {
                return Mono.error(tooLarge(maxBytes));
            }
            var collected = new ByteArrayOutputStream();
            return body.doOnNext(buffer -> collect(buffer, collected, maxBytes))
                    .then(Mono.fromSupplier(collected::toByteArray))
                    .timeout(patience(maxBytes), Mono.error(EdgeRequest::tooSlow));
        });
    }

    private static Duration patience(int maxBytes) {
        return GRACE.plusSeconds(maxBytes / BYTES_PER_SECOND);
    }

    private static HandlerException tooSlow() {
        return HandlerException.of(HandlerException.Reason.REQUEST_TIMEOUT,
                "the body did not arrive in time");
    }

    private long announcedBytes() {
        String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
        try {
            return length == null ? 0 : Long.parseLong(length);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    /** Takes ownership of {@code buffer}. */
    private static void collect(ByteBuf buffer, ByteArrayOutputStream collected, int maxBytes) {
        try {
            if (buffer.readableBytes() > maxBytes - collected.size()) {
                throw tooLarge(maxBytes);
            }
            byte[] bytes = new byte[buffer.readableBytes()];
            buffer.readBytes(bytes);
            collected.writeBytes(bytes);
        } finally {
            buffer.release();
        }
    }

    private static HandlerException tooLarge(int maxBytes) {
        return HandlerException.of(HandlerException.Reason.BODY_TOO_LARGE,
                "the body is larger than " + maxBytes + " bytes");
    }
}
