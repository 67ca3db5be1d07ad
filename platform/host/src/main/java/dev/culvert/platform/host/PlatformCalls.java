package dev.culvert.platform.host;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.observe.Version;
import dev.culvert.platform.host.rest.ApiDocument;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.WaitingMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The host's own calls: {@code /api/ping}, {@code /openapi.json} and {@code /graphql.sdl} without
 * credentials, {@code /api/outbox} for operators.
 */
final class PlatformCalls implements EdgeHandlerProvider {
    private static final String PING = "/api/ping";
    private static final String OPENAPI = "/openapi.json";
    private static final String SDL = "/graphql.sdl";
    private static final String OUTBOX = "/api/outbox";
    private static final String TEXT = "text/plain";

    private final PlatformParts parts;
    /** The pages by path. */
    private final Map<String, Page> pages = new ConcurrentHashMap<>();

    PlatformCalls(PlatformParts parts) {
        this.parts = parts;
        pages.put(PING, new Page(TEXT, "ok\n"));
    }

    /** A constant answer. */
    private record Page(String mediaType, String text) {}

    @Override
    public String name() {
        return ModuleTables.HOST;
    }

    @Override
    public List<String> mounts() {
        return List.of(PING, OPENAPI, SDL, OUTBOX);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        ApiDocument document = parts.document();
        document.add(name(), PING, "Whether the control plane answers", TEXT);
        document.add(name(), OPENAPI, "This document", "application/json");
        document.add(name(), SDL, "The schema of /2.0/api/graphql", TEXT);
        document.addGraphQl(name(), ControlPlane.GRAPHQL);
        EdgeHandler outbox = RestApi.of(name(), context,
                List.of(RestCall.of(HttpMethod.GET, OUTBOX, Who.OPERATOR,
                        "The oldest 100 changes that other parts have not received",
                        scope -> parts.outbox()
                                .oldest()
                                .map(all -> JsonBodies.answer(HttpResponseStatus.OK,
                                        JsonBodies.Items.of(all))))
                        .lists(WaitingMessage.class)));
        return request -> request.path().equals(OUTBOX) ? outbox.handle(request) : page(request);
    }

    /** Renders what the modules have declared. Called once, when all are created. */
    void publish(@Nullable String sdl) {
        pages.put(OPENAPI, new Page("application/json",
                new String(parts.document().json(Version.current()), StandardCharsets.UTF_8)));
        pages.put(SDL, new Page(TEXT + "; charset=utf-8", sdl == null ? "" : sdl));
    }

    private Mono<EdgeResponse> page(EdgeRequest request) {
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
        }
        Page page = pages.getOrDefault(request.path(), new Page(TEXT, ""));
        return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, page.mediaType(),
                page.text().getBytes(StandardCharsets.UTF_8)));
    }
}
