package dev.culvert.admin.webhook;

import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.ChangeAudit;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.inbox.model.BulkResult;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
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

/**
 * The calls on an inbox: {@code /api/v1/webhooks}, and the event sources that are paused. Where there is only
 * one runtime, calls do not name it.
 */
public final class WebhookCalls {
    static final String ALL = "/api/v1/webhooks";
    static final String ONE = "/api/v1/webhooks/{id}";
    static final String REPLAY = "/api/v1/webhooks/{id}/replay";
    static final String REPLAY_ALL = "/api/v1/webhooks/replay";
    static final String PURGE_ALL = "/api/v1/webhooks/purge";
    private static final String OF_RUNTIME = "/api/v1/runtimes/{account}/{name}/webhooks/";
    private static final String OF_ONLY_RUNTIME = ALL + "/";
    private static final int DEFAULT_LIMIT = 100;

    private final StoredWebhooks webhooks;
    private final WebhookRuntimes runtimes;
    private final ChangeAudit audit;

    /** @param audit records the changes */
    public WebhookCalls(StoredWebhooks webhooks, WebhookRuntimes runtimes, ChangeAudit audit) {
        this.webhooks = webhooks;
        this.runtimes = runtimes;
        this.audit = audit;
    }

    /** The calls. */
    public List<AdminRoute> routes() {
        String ofSource = runtimes.only() == null ? OF_RUNTIME : OF_ONLY_RUNTIME;
        return List.of(new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> list(request)),
                new AdminRoute(HttpMethod.GET, ONE,
                        (request, segments) -> entry(id(segments))
                                .map(found -> JsonAnswer.of(HttpResponseStatus.OK, view(found)))),
                new AdminRoute(HttpMethod.POST, REPLAY, (request, segments) -> replay(request, id(segments)))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.DELETE, ONE, (request, segments) -> delete(request, id(segments)))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.DELETE, ALL, (request, segments) -> purge(request))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, REPLAY_ALL, (request, segments) -> replayAll(request))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, PURGE_ALL, (request, segments) -> purgeAll(request))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, ofSource + "pause",
                        (request, segments) -> change(request, segments, "webhooks paused", webhooks::pause))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.POST, ofSource + "resume",
                        (request, segments) -> change(request, segments, "webhooks resumed",
                                webhooks::resume))
                        .needs(AdminRole.OPERATE));
    }

    private Mono<EdgeResponse> list(EdgeRequest request) {
        return Mono.defer(() -> webhooks.list(query(new QueryStringDecoder(request.target()).parameters())))
                .map(this::page);
    }

    private EdgeResponse page(InboxPage page) {
        return JsonAnswer.of(HttpResponseStatus.OK,
                new JsonAnswer.Page<>(page.entries().stream().map(this::view).toList(), page.next()));
    }

    private InboxQuery query(Map<String, List<String>> query) {
        String runtimeId = runtime(first(query, "account"), first(query, "name"));
        String source = first(query, "source");
        if (source != null && runtimeId == null) {
            throw wrong("source: without a runtime (expected: account and name beside it)");
        }
        return new InboxQuery(state(first(query, "state")), runtimeId, source, first(query, "next"),
                limit(first(query, "limit")));
    }

    /** The id of a runtime; null: neither it nor its account is given, and there may be several. */
    private @Nullable String runtime(@Nullable String account, @Nullable String name) {
        String only = runtimes.only();
        if (only != null && (account != null || name != null)) {
            throw wrong("account and name: there is only one runtime (expected: neither)");
        }
        if ((account == null) != (name == null)) {
            throw wrong("account and name: one without the other (expected: both, or none)");
        }
        return account == null || name == null ? only : runtimes.id(account, name);
    }

    private static @Nullable WebhookState state(@Nullable String word) {
        try {
            return BulkRequest.state(word);
        } catch (IllegalArgumentException e) {
            throw wrong(String.valueOf(e.getMessage()));
        }
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
                        .changed(request.context(), "webhook replayed", status -> id,
                                webhooks.replay(id).thenReturn(HttpResponseStatus.ACCEPTED)))
                .flatMap(status -> entry(id).map(found -> JsonAnswer.of(status, view(found))));
    }

    private Mono<EdgeResponse> delete(EdgeRequest request, String id) {
        return audit.changed(request.context(), "webhook deleted", answer -> id,
                webhooks.delete(id).thenReturn(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }

    private Mono<EdgeResponse> purge(EdgeRequest request) {
        return Mono.defer(() -> {
            InboxQuery of = query(new QueryStringDecoder(request.target()).parameters());
            String runtimeId = of.runtimeId();
            String source = of.source();
            if (runtimeId == null || source == null) {
                throw wrong(runtimes.only() == null
                        ? "source: missing (expected: account, name and source of the webhooks to forget)"
                        : "source: missing (expected: that of the webhooks to forget)");
            }
            return audit.changed(request.context(), "webhooks deleted",
                    count -> shown(runtimeId, source), webhooks.purge(runtimeId, source, of.state()));
        }).map(count -> JsonAnswer.of(HttpResponseStatus.OK, new WebhookViews.PurgedView(count)));
    }

    private Mono<EdgeResponse> replayAll(EdgeRequest request) {
        return bulk(request, (asked, words) -> {
            if (words.isEmpty()) {
                throw wrong("the filter is empty (expected: ids, source, state, since or until)");
            }
            return asked.dryRun()
                    ? webhooks.countReplays(asked.filter()).map(WebhookCalls::matched)
                    : changed(request, "webhooks replayed", words,
                            webhooks.replay(asked.filter(), asked.next(), asked.limit()))
                            .map(done -> JsonAnswer.of(HttpResponseStatus.ACCEPTED,
                                    WebhookViews.ReplayedView.of(done)));
        });
    }

    private Mono<EdgeResponse> purgeAll(EdgeRequest request) {
        return bulk(request, (asked, words) -> {
            if (!asked.isSpecific()) {
                throw wrong("the filter names no webhooks to forget (expected: ids, source or state)");
            }
            return asked.dryRun()
                    ? webhooks.countPurged(asked.filter()).map(WebhookCalls::matched)
                    : changed(request, "webhooks deleted", words,
                            webhooks.purge(asked.filter(), asked.next(), asked.limit()))
                            .map(done -> JsonAnswer.of(HttpResponseStatus.OK,
                                    WebhookViews.PurgedPageView.of(done)));
        });
    }

    private Mono<EdgeResponse> bulk(EdgeRequest request,
            BiFunction<BulkRequest, String, Mono<EdgeResponse.Http>> call) {
        return request.aggregate(AdminHandler.MAX_BODY_BYTES).<EdgeResponse>flatMap(body -> {
            BulkRequest asked = BulkRequest.read(body, this::runtime);
            String runtimeId = asked.filter().runtimeId();
            return call.apply(asked, asked.words(runtimeId == null ? null : runtimes.name(runtimeId)));
        });
    }

    private static EdgeResponse.Http matched(long count) {
        return JsonAnswer.of(HttpResponseStatus.OK, new WebhookViews.MatchedView(count));
    }

    private Mono<BulkResult> changed(EdgeRequest request, String what, String words,
            Mono<BulkResult> change) {
        return audit.changed(request.context(), what, done -> done.changed() + ": " + words, change)
                .onErrorMap(IllegalArgumentException.class, e -> wrong(String.valueOf(e.getMessage())));
    }

    private Mono<EdgeResponse> change(EdgeRequest request, Map<String, String> segments, String what,
            BiFunction<String, String, Mono<Void>> change) {
        String runtimeId = runtimes.only() == null
                ? runtimes.id(segments.getOrDefault("account", ""), segments.getOrDefault("name", ""))
                : runtimes.only();
        return request.aggregate(AdminHandler.MAX_BODY_BYTES)
                .map(WebhookCalls::source)
                .flatMap(source -> audit.changed(request.context(), what,
                        answer -> shown(runtimeId, source),
                        change.apply(runtimeId, source)
                                .thenReturn(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT))));
    }

    /** Names an event source for people. */
    private String shown(String runtimeId, String source) {
        WebhookRuntimes.Name runtime = runtimes.name(runtimeId);
        return runtime == null ? source : runtime + ": " + source;
    }

    private static String source(byte[] body) {
        String source = JsonFields.read(body, Set.of("source"), fields -> fields.text("source"));
        if (source.isEmpty() || source.length() > BulkRequest.MAX_SOURCE) {
            throw wrong("source: no text of 1.." + BulkRequest.MAX_SOURCE
                    + " characters (expected: as argo/push)");
        }
        return source;
    }

    private WebhookViews.WebhookView view(InboxEntry entry) {
        return WebhookViews.WebhookView.of(entry, runtimes.name(entry.runtimeId()));
    }

    private Mono<InboxEntry> entry(String id) {
        return webhooks.entry(id)
                .switchIfEmpty(Mono.error(() -> new StoreException.Absent("there is no webhook " + id)));
    }

    /** Ids consist of letters, digits and hyphens, so there is nothing to decode. */
    private static String id(Map<String, String> segments) {
        return segments.getOrDefault("id", "");
    }

    private static @Nullable String first(Map<String, List<String>> query, String name) {
        List<String> values = query.getOrDefault(name, List.of());
        return values.isEmpty() ? null : values.getFirst();
    }

    private static HandlerException wrong(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}
