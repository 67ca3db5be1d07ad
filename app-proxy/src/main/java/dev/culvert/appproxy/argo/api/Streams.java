package dev.culvert.appproxy.argo.api;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Streaming responses, which last until the reader disconnects; their number is bounded. */
public final class Streams {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final int max;
    private final AtomicInteger open = new AtomicInteger();

    public Streams(int max) {
        this.max = max;
    }

    /** The number of open streams. */
    int open() {
        return open.get();
    }

    /**
     * Server-sent events, each chunk one or more whole or part of one. Errors: OVERLOADED beyond the bound.
     */
    public Mono<EdgeResponse> events(Mono<Flux<byte[]>> source) {
        return answer(source, new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, RemoteApi.EVENTS)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store"));
    }

    /** A download of text. Errors: OVERLOADED beyond the bound. */
    public Mono<EdgeResponse> download(Mono<Flux<byte[]>> source, String fileName) {
        return answer(source,
                new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                        .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                        .set(HttpHeaderNames.CONTENT_DISPOSITION,
                                "attachment; filename=\"" + fileName + "\""));
    }

    private Mono<EdgeResponse> answer(Mono<Flux<byte[]>> source, HttpHeaders headers) {
        return Mono.defer(() -> {
            if (open.incrementAndGet() > max) {
                open.decrementAndGet();
                return Mono.error(HandlerException.of(Reason.OVERLOADED, max + " streams are open already")
                        .retryAfter(SOON));
            }
            var closed = new AtomicBoolean();
            var answered = new AtomicBoolean();
            Runnable close = () -> {
                if (closed.compareAndSet(false, true)) {
                    open.decrementAndGet();
                }
            };
            return source.map(body -> {
                answered.set(true);
                return response(headers, body, close);
            }).doOnError(error -> close.run()).doOnCancel(() -> {
                if (!answered.get()) {
                    close.run();
                }
            });
        });
    }

    /** A failure after the head resets the response, so that it does not look complete. */
    private static EdgeResponse response(HttpHeaders headers, Flux<byte[]> body, Runnable close) {
        Flux<ByteBuf> bytes = body.<ByteBuf>map(Unpooled::wrappedBuffer).doFinally(end -> close.run());
        return EdgeResponse.Http.streaming(HttpResponseStatus.OK, headers, bytes);
    }
}
