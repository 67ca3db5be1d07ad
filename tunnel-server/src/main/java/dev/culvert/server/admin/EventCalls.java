package dev.culvert.server.admin;

import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.relay.observe.RequestLog;
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
    private final RequestStream requests;
    private final Duration heartbeat;

    public EventCalls(ServerEvents events, AdminAccess access, RequestLog requests, Duration heartbeat) {
        this.events = events;
        this.access = access;
        this.requests = new RequestStream(requests);
        this.heartbeat = heartbeat;
    }

    public List<AdminRoute> routes() {
        return List.of(
                new AdminRoute(HttpMethod.GET, "/api/v1/events",
                        (request, segments) -> stream(request)));
    }

    /** Whether the caller's token is still valid. False when that can't be determined. */
    private Mono<Boolean> mayGoOn(EdgeRequest request) {
        String presented = AdminHandler.bearer(request);
        return presented == null
                ? Mono.just(false)
                : Mono.defer(() -> access.caller(presented)).hasElement().onErrorReturn(false);
    }

    /** Errors: {@link StoreException.Busy}. */
    private Mono<EdgeResponse> stream(EdgeRequest request) {
        return Mono.defer(() -> stream(watched(request), mayGoOn(request)));
    }

    /** The events that a caller asks for. Throws {@link StoreException.Busy}. */
    private Flux<String> watched(EdgeRequest request) {
        RequestQuery query = RequestQuery.of(request);
        boolean only = "only".equals(query.text("requests"));
        if (only) {
            return requests.watch(request, query);
        }
        boolean both = query.flag("requests");
        if (events.isFull()) {
            throw ServerEvents.full();
        }
        Flux<String> seen = events.watch().map(EventCalls::text);
        return both ? Flux.merge(seen, requests.watch(request, query)) : seen;
    }

    /** Checks {@code mayGoOn} at each heartbeat. */
    private Mono<EdgeResponse> stream(Flux<String> watched, Mono<Boolean> mayGoOn) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> over = Sinks.empty();
            Flux<String> seen = watched.doFinally(signal -> over.tryEmitEmpty());
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
                event("missed", new AdminJson.MissedView(missed.count()));
            case Seen.Event event -> event(event.event().word(), view(event.event()));
        };
    }

    /** The text of an event. */
    static String event(String kind, Record data) {
        return "event: " + kind + "\ndata: " + JsonAnswer.line(data) + "\n\n";
    }

    private static Record view(ServerEvent event) {
        return switch (event) {
            case ServerEvent.OfTunnel tunnel -> AdminJson.TunnelEventView.of(tunnel);
            case ServerEvent.OfWebhook webhook -> WebhookJson.EventView.of(webhook);
            case ServerEvent.Stopping stopping -> new AdminJson.StoppingView(stopping.at().toString());
        };
    }
}
