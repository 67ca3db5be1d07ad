package dev.culvert.handlers.graphql;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import graphql.ExecutionResult;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The event stream that answers a subscription: {@code next} events with results and a final {@code
 * complete}, as GraphQL over Server-Sent Events (distinct connections) has them. A comment every 15 s keeps
 * proxies from closing it. Events are made one at a time, at the caller's pace.
 */
final class SubscriptionAnswer {
    static final String MEDIA_TYPE = "text/event-stream";

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);
    private static final JsonMapper JSON = new JsonMapper();

    private final EdgeRequest request;
    private final AnswerBudget budget;

    /** @param budget what the stream holds; closed when it ends */
    SubscriptionAnswer(EdgeRequest request, AnswerBudget budget) {
        this.request = request;
        this.budget = budget;
    }

    static boolean isAccepted(EdgeRequest request) {
        return request.headers().get(HttpHeaderNames.ACCEPT, "").contains(MEDIA_TYPE);
    }

    EdgeResponse response(Publisher<ExecutionResult> results) {
        HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, MEDIA_TYPE)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        budget.renderedEvent(AnswerBudget.SMALL_BYTES);
        Sinks.Empty<Void> ended = Sinks.empty();
        Flux<ByteBuf> events = Flux.from(results)
                .limitRate(1)
                .map(result -> event(members(result)))
                .onErrorResume(failed -> Mono.fromSupplier(() -> event(Map.of("errors",
                        List.of(GraphQlErrors.ended(failed, request.context().requestId()))))))
                .concatWith(Mono.fromSupplier(() -> text("event: complete\ndata:\n\n")))
                .doFinally(signal -> {
                    budget.close();
                    ended.tryEmitEmpty();
                });
        Flux<ByteBuf> comments = Flux.interval(KEEP_ALIVE)
                .onBackpressureDrop()
                .map(tick -> text(":\n\n"))
                .takeUntilOther(ended.asMono());
        return EdgeResponse.Http
                .streaming(HttpResponseStatus.OK, headers, Flux.merge(1, events, comments))
                .holding(budget.hold());
    }

    private Map<String, Object> members(ExecutionResult result) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (result.isDataPresent()) {
            members.put("data", result.getData());
        }
        if (!result.getErrors().isEmpty()) {
            members.put("errors", result.getErrors()
                    .stream()
                    .map(error -> GraphQlErrors.rendered(error, request.context().requestId()))
                    .toList());
        }
        return members;
    }

    private ByteBuf event(Map<String, Object> members) {
        var json = new AnswerBytes(budget);
        try {
            JSON.writeValue(json, members);
        } catch (IOException e) {
            if (e.getCause() instanceof HandlerException refusal) {
                throw refusal;
            }
            throw new UncheckedIOException("what the schema coerced always renders", e);
        }
        budget.renderedEvent(json.held());
        return Unpooled.wrappedBuffer(text("event: next\ndata: "), json.whole(), text("\n\n"));
    }

    private static ByteBuf text(String ascii) {
        return Unpooled.copiedBuffer(ascii, StandardCharsets.US_ASCII);
    }
}
