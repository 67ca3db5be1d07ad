package dev.culvert.server.page;

import dev.culvert.admin.AdminRole;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.web.FormFields;
import dev.culvert.web.Format;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import io.netty.handler.codec.http.HttpMethod;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The inbox: what is pending, dead and delivered; replays; pauses of event sources. */
final class WebhookPages {
    private static final int PAGE = 50;
    private static final String API = "/api/v1/webhooks/";

    private final Templates templates;
    private final StoredWebhooks webhooks;
    private final RuntimeStore store;
    private final AdminCalls calls;

    WebhookPages(Templates templates, StoredWebhooks webhooks, RuntimeStore store, AdminCalls calls) {
        this.templates = templates;
        this.webhooks = webhooks;
        this.store = store;
        this.calls = calls;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(WebhookList.PATH, this::list),
                PageRoute.get(WebhookList.PATH + "/replay", this::askReplay),
                PageRoute.post(WebhookList.PATH + "/replay", this::replayMany),
                PageRoute.post(WebhookList.PATH + "/{id}/replay", this::replay),
                PageRoute.post(WebhookList.PATH + "/pause", request -> pause(request, "pause",
                        "Deliveries of this event source are paused. Webhooks are still stored.")),
                PageRoute.post(WebhookList.PATH + "/resume",
                        request -> pause(request, "resume", "Deliveries of this event source go on.")));
    }

    /** What a query or a form asks for. */
    private record Wanted(String state, String runtime, String source) {
        static Wanted of(FormFields fields) {
            return new Wanted(fields.text("state"), fields.text("runtime").strip(),
                    fields.text("source").strip());
        }

        String path() {
            return WebhookList.PATH + new WebhookList(List.of(), state, runtime, source, "", false, "", false,
                    "").query();
        }

        /** The filter in words. */
        String words() {
            return (state.isEmpty() ? "all" : "all " + state) + " webhooks"
                    + (source.isEmpty() ? "" : " of " + source) + (runtime.isEmpty() ? "" : " of " + runtime);
        }

        Map<String, Object> body() {
            Map<String, Object> body = new LinkedHashMap<>();
            int slash = runtime.indexOf('/');
            if (!runtime.isEmpty()) {
                body.put("account", slash < 0 ? runtime : runtime.substring(0, slash));
                body.put("name", slash < 0 ? "" : runtime.substring(slash + 1));
            }
            if (!source.isEmpty()) {
                body.put("source", source);
            }
            if (!state.isEmpty()) {
                body.put("state", state);
            }
            return body;
        }
    }

    private Mono<PageAnswer> list(PageRequest request) {
        return Mono.defer(() -> {
            Wanted wanted = Wanted.of(request.query());
            String after = request.query().text("next");
            RegisteredRuntime runtime = runtime(wanted.runtime);
            String problem = !wanted.runtime.isEmpty() && runtime == null
                    ? "There is no runtime of this name (expected: account/name)."
                    : !wanted.source.isEmpty() && runtime == null
                            ? "An event source belongs to a runtime: name it, too."
                            : "";
            Mono<InboxPage> page = problem.isEmpty()
                    ? webhooks.list(new InboxQuery(WebhookState.of(wanted.state),
                            runtime == null ? null : runtime.id(),
                            wanted.source.isEmpty() ? null : wanted.source, after.isEmpty() ? null : after,
                            PAGE))
                    : Mono.just(new InboxPage(List.of(), null));
            return page.map(found -> view(request, wanted, found, after, problem));
        });
    }

    private PageAnswer view(PageRequest request, Wanted wanted, InboxPage page, String after,
            String problem) {
        String next = page.next();
        return PageAnswer.View.of("Webhooks", WebhookList.PATH, templates.content("webhooks.jte",
                new WebhookList(page.entries().stream().map(entry -> {
                    RegisteredRuntime runtime = store.byId(entry.runtimeId());
                    return WebhookList.Row.of(entry, runtime == null ? "" : runtime.name().toString());
                }).toList(), wanted.state, wanted.runtime, wanted.source, problem, !after.isEmpty(),
                        next == null ? "" : wanted.path() + "&next=" + RuntimeList.encoded(next),
                        RuntimePages.role(request).covers(AdminRole.OPERATE),
                        request.session().csrfToken())));
    }

    private @Nullable RegisteredRuntime runtime(String name) {
        int slash = name.indexOf('/');
        try {
            return slash < 0
                    ? null
                    : store.byName(new RuntimeName(name.substring(0, slash), name.substring(slash + 1)));
        } catch (InvalidNameException e) {
            return null;
        }
    }

    private Mono<PageAnswer> replay(PageRequest request) {
        return calls.call(request, HttpMethod.POST, API + request.segment("id") + "/replay", null)
                .map(replayed -> new PageAnswer.Redirect(Wanted.of(request.form()).path(),
                        "The webhook is replayed: it is pending again, behind those of its source."));
    }

    /** Asks first, with the number that the API counts. */
    private Mono<PageAnswer> askReplay(PageRequest request) {
        if (!RuntimePages.role(request).covers(AdminRole.OPERATE)) {
            return Mono
                    .error(HandlerException.of(Reason.FORBIDDEN, "This needs a token of the role operate."));
        }
        Wanted wanted = Wanted.of(request.query());
        Map<String, Object> body = wanted.body();
        body.put("dryRun", true);
        return calls.call(request, HttpMethod.POST, API + "replay", body).map(counted -> {
            String title = "Replay " + wanted.words() + "?";
            return PageAnswer.View.of(title, WebhookList.PATH, templates.content("confirm.jte",
                    new Confirmation(title,
                            Format.plural(counted.path("matched").asLong(), "webhook is", "webhooks are")
                                    + " sent again, in order.",
                            "Replay", false, WebhookList.PATH + "/replay", wanted.path(),
                            Map.of("state", wanted.state, "runtime", wanted.runtime, "source", wanted.source),
                            request.session().csrfToken())));
        });
    }

    private Mono<PageAnswer> replayMany(PageRequest request) {
        Wanted wanted = Wanted.of(request.form());
        return calls.call(request, HttpMethod.POST, API + "replay", wanted.body())
                .expand(done -> done.path("next").isTextual()
                        ? calls.call(request, HttpMethod.POST, API + "replay",
                                with(wanted.body(), "next", done.path("next").asText()))
                        : Mono.empty())
                .map(done -> done.path("replayed").asLong())
                .reduce(0L, Long::sum)
                .map(count -> new PageAnswer.Redirect(wanted.path(),
                        Format.plural(count, "webhook is", "webhooks are") + " replayed."));
    }

    private static Map<String, Object> with(Map<String, Object> body, String name, Object value) {
        body.put(name, value);
        return body;
    }

    private Mono<PageAnswer> pause(PageRequest request, String action, String said) {
        Wanted wanted = Wanted.of(request.form());
        RegisteredRuntime runtime = runtime(wanted.runtime);
        if (runtime == null) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "There is no such runtime."));
        }
        return calls.call(request, HttpMethod.POST,
                "/api/v1/runtimes/" + runtime.name() + "/webhooks/" + action,
                Map.of("source", wanted.source))
                .map(done -> new PageAnswer.Redirect(wanted.path(), said));
    }
}
