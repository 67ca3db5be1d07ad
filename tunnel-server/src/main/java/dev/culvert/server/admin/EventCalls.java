package dev.culvert.server.admin;

import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.ServerEvents.Seen;
import dev.culvert.store.StoreException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * {@code GET /api/v1/events}: the server's events, as server-sent events, until the server stops or the
 * caller's token becomes invalid.
 */
public final class EventCalls {
    /** Well below the minute after which proxies close idle connections. */
    static final Duration HEARTBEAT = Duration.ofSeconds(15);
    /** A comment that shows that the stream is open, before the first event. */
    private static final String COMMENT = ":\n\n";

    private final ServerEvents events;
    private final AdminAccess access;
    private final Duration heartbeat;

    public EventCalls(ServerEvents events, AdminAccess access, Duration heartbeat) {
        this.events = events;
        this.access = access;
        this.heartbeat = heartbeat;
    }

    public List<AdminRoute> routes() {
        return List.of(
                new AdminRoute(HttpMethod.GET, "/api/v1/events",
                        (request, segments) -> stream(mayGoOn(request))));
    }

    /** Whether the caller's token is still valid. False when that can't be determined. */
    private Mono<Boolean> mayGoOn(EdgeRequest request) {
        String presented = AdminHandler.bearer(request);
        return presented == null
                ? Mono.just(false)
                : Mono.defer(() -> access.caller(presented)).hasElement().onErrorReturn(false);
    }

    /** Checks {@code mayGoOn} at each heartbeat. Errors: {@link StoreException.Busy}. */
    Mono<EdgeResponse> stream(Mono<Boolean> mayGoOn) {
        return Mono.defer(() -> {
            if (events.isFull()) {
                return Mono.error(ServerEvents.full());
            }
            Sinks.Empty<Void> over = Sinks.empty();
            Flux<String> seen = events.watch()
                    .map(EventCalls::text)
                    .doFinally(signal -> over.tryEmitEmpty());
            Sinks.Empty<Void> refused = Sinks.empty();
            Flux<String> beats = Flux.interval(heartbeat)
                    .onBackpressureDrop()
                    .concatMap(tick -> mayGoOn)
                    .takeWhile(may -> may)
                    .doOnComplete(refused::tryEmitEmpty)
                    .map(may -> COMMENT)
                    .takeUntilOther(over.asMono());
            Flux<ByteBuf> body = Flux.merge(Flux.just(COMMENT), seen, beats)
                    .takeUntilOther(refused.asMono())
                    .map(text -> Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
            var headers = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream")
                    .set(HttpHeaderNames.CACHE_CONTROL, "no-store");
            return Mono.just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, headers, body));
        });
    }

    private static String text(Seen seen) {
        return switch (seen) {
            case Seen.Missed missed ->
                "event: missed\ndata: " + JsonAnswer.line(new AdminJson.MissedView(missed.count())) + "\n\n";
            case Seen.Event event -> "event: " + event.event().word() + "\ndata: "
                    + JsonAnswer.line(view(event.event())) + "\n\n";
        };
    }

    private static Record view(ServerEvent event) {
        return switch (event) {
            case ServerEvent.OfTunnel tunnel -> AdminJson.TunnelEventView.of(tunnel);
            case ServerEvent.OfWebhook webhook -> WebhookJson.EventView.of(webhook);
            case ServerEvent.Stopping stopping -> new AdminJson.StoppingView(stopping.at().toString());
        };
    }
}
