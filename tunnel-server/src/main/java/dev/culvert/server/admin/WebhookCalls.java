package dev.culvert.server.admin;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.token.AdminRole;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls on the inbox: {@code /api/v1/webhooks}, and the event sources that are paused. */
final class WebhookCalls {
    static final String ALL = "/api/v1/webhooks";
    static final String ONE = "/api/v1/webhooks/{id}";
    static final String REPLAY = "/api/v1/webhooks/{id}/replay";
    static final String PAUSE = "/api/v1/runtimes/{account}/{name}/webhooks/pause";
    static final String RESUME = "/api/v1/runtimes/{account}/{name}/webhooks/resume";
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_SOURCE = 200;

    private final StoredWebhooks webhooks;
    private final RuntimeStore store;
    private final AdminAudit audit;

    WebhookCalls(StoredWebhooks webhooks, RuntimeStore store, AdminAudit audit) {
        this.webhooks = webhooks;
        this.store = store;
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> list(request)),
                new AdminRoute(HttpMethod.GET, ONE,
                        (request, segments) -> entry(id(segments))
                                .map(found -> AdminJson.answer(HttpResponseStatus.OK, view(found)))),
                new AdminRoute(HttpMethod.POST, REPLAY, (request, segments) -> replay(request, id(segments)))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.DELETE, ONE, (request, segments) -> delete(request, id(segments)))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.DELETE, ALL, (request, segments) -> purge(request))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, PAUSE,
                        (request, segments) -> change(request, segments, "webhooks paused", webhooks::pause))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, RESUME,
                        (request, segments) -> change(request, segments, "webhooks resumed",
                                webhooks::resume))
                        .needs(AdminRole.OPERATE));
    }

    private Mono<EdgeResponse> list(EdgeRequest request) {
        return Mono.defer(() -> webhooks.list(query(new QueryStringDecoder(request.target()).parameters())))
                .map(this::page);
    }

    private EdgeResponse page(InboxPage page) {
        return AdminJson.answer(HttpResponseStatus.OK,
                new AdminJson.Page<>(page.entries().stream().map(this::view).toList(), page.next()));
    }

    private InboxQuery query(Map<String, List<String>> query) {
        String account = first(query, "account");
        String name = first(query, "name");
        if ((account == null) != (name == null)) {
            throw wrong("account and name: one without the other (expected: both, or none)");
        }
        String runtimeId = account == null || name == null
                ? null
                : present(new RuntimeName(account, name)).id();
        String source = first(query, "source");
        if (source != null && runtimeId == null) {
            throw wrong("source: without a runtime (expected: account and name beside it)");
        }
        return new InboxQuery(state(first(query, "state")), runtimeId, source, first(query, "next"),
                limit(first(query, "limit")));
    }

    private static @Nullable WebhookState state(@Nullable String word) {
        WebhookState state = word == null ? null : WebhookState.of(word);
        if (word != null && state == null) {
            throw wrong("state: not a state (expected: pending, delivered or dead)");
        }
        return state;
    }

    private static int limit(@Nullable String text) {
        if (text == null) {
            return DEFAULT_LIMIT;
        }
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1 && limit <= InboxQuery.MAX_LIMIT) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw wrong("limit: not a number of entries (expected: 1.." + InboxQuery.MAX_LIMIT + ")");
    }

    private Mono<EdgeResponse> replay(EdgeRequest request, String id) {
        return entry(id)
                .flatMap(found -> audit
                        .noted(request.context(), "webhook replayed", id,
                                webhooks.replay(id).thenReturn(HttpResponseStatus.ACCEPTED)))
                .flatMap(status -> entry(id).map(found -> AdminJson.answer(status, view(found))));
    }

    private Mono<EdgeResponse> delete(EdgeRequest request, String id) {
        return audit.noted(request.context(), "webhook deleted", id,
                webhooks.delete(id).thenReturn(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }

    private Mono<EdgeResponse> purge(EdgeRequest request) {
        return Mono.defer(() -> {
            InboxQuery of = query(new QueryStringDecoder(request.target()).parameters());
            String runtimeId = of.runtimeId();
            String source = of.source();
            if (runtimeId == null || source == null) {
                throw wrong("source: missing (expected: account, name and source of the webhooks to forget)");
            }
            RegisteredRuntime runtime = store.byId(runtimeId);
            return audit.noted(request.context(), "webhooks deleted",
                    (runtime == null ? runtimeId : runtime.name()) + ": " + source,
                    webhooks.purge(runtimeId, source, of.state()));
        }).map(count -> AdminJson.answer(HttpResponseStatus.OK, new WebhookJson.PurgedView(count)));
    }

    private Mono<EdgeResponse> change(EdgeRequest request, Map<String, String> segments, String what,
            BiFunction<String, String, Mono<Void>> change) {
        RegisteredRuntime runtime = present(RuntimeCalls.name(segments));
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .map(WebhookCalls::source)
                .flatMap(source -> audit.noted(request.context(), what, runtime.name() + ": " + source,
                        change.apply(runtime.id(), source)
                                .thenReturn(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT))));
    }

    private static String source(byte[] body) {
        String source = JsonFields.read(body, Set.of("source"), fields -> fields.text("source"));
        if (source.isEmpty() || source.length() > MAX_SOURCE) {
            throw wrong("source: no text of 1.." + MAX_SOURCE + " characters (expected: as argo/push)");
        }
        return source;
    }

    private WebhookJson.WebhookView view(InboxEntry entry) {
        return WebhookJson.WebhookView.of(entry, store.byId(entry.runtimeId()));
    }

    private Mono<InboxEntry> entry(String id) {
        return webhooks.entry(id)
                .switchIfEmpty(Mono.error(() -> new StoreException.Absent("there is no webhook " + id)));
    }

    /** Ids consist of letters, digits and hyphens, so there is nothing to decode. */
    private static String id(Map<String, String> segments) {
        return segments.getOrDefault("id", "");
    }

    private RegisteredRuntime present(RuntimeName name) {
        RegisteredRuntime runtime = store.byName(name);
        if (runtime == null) {
            throw new StoreException.Absent("there is no runtime " + name);
        }
        return runtime;
    }

    private static @Nullable String first(Map<String, List<String>> query, String name) {
        List<String> values = query.getOrDefault(name, List.of());
        return values.isEmpty() ? null : values.getFirst();
    }

    private static HandlerException wrong(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}
