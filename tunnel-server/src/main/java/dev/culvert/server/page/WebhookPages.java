package dev.culvert.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.admin.AdminRole;
import dev.culvert.handlers.server.Failure;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.SourceBacklog;
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
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The inbox: what is pending, dead and delivered; replays; pauses of event sources. */
final class WebhookPages {
    private static final int PAGE = 50;
    private static final int SOURCES = 20;
    private static final String API = "/api/v1/webhooks/";

    private final Templates templates;
    private final StoredWebhooks webhooks;
    private final RuntimeStore store;
    private final AdminCalls calls;
    private final EventsPage events;

    WebhookPages(Templates templates, StoredWebhooks webhooks, RuntimeStore store, AdminCalls calls,
            EventsPage events) {
        this.events = events;
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
                PageRoute.get(WebhookList.PATH + "/pause", this::askPause),
                PageRoute.post(WebhookList.PATH + "/pause", request -> pause(request, "pause",
                        "Deliveries of this event source are paused. Webhooks are still stored.")),
                PageRoute.post(WebhookList.PATH + "/resume",
                        request -> pause(request, "resume", "Deliveries of this event source go on.")),
                // behind the paths above, which no id has
                PageRoute.get(WebhookList.PATH + "/{id}", this::one),
                PageRoute.get(WebhookList.PATH + "/{id}/replay", this::askReplayOfOne));
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

        /** What a replay takes, in words: without a state the dead ones. */
        String replayed() {
            return "all " + (state.isEmpty() ? WebhookState.DEAD.word() : state) + " webhooks"
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

    /**
     * What a replay of many webhooks has done.
     *
     * @param replayed the number that is sent again
     * @param skipped the number whose content is not kept any more
     * @param next where the next step begins; null: this was the last one
     * @param problem why it ended early, or empty
     * @param left the number that it left when it ended early; -1: unknown
     */
    record Replayed(long replayed, long skipped, @Nullable String next, String problem, long left) {
        static Replayed of(JsonNode step) {
            return new Replayed(step.path("replayed").asLong(), step.path("skipped").asLong(),
                    step.path("next").isTextual() ? step.path("next").asText() : null, "", 0);
        }

        static Replayed failed(String problem, long left) {
            return new Replayed(0, 0, null, problem, left);
        }

        /** This and a later step. */
        Replayed plus(Replayed later) {
            return new Replayed(replayed + later.replayed, skipped + later.skipped, later.next, later.problem,
                    later.left);
        }

        String words() {
            String done = Format.plural(replayed, "webhook is", "webhooks are") + " replayed"
                    + (skipped == 0
                            ? ""
                            : "; " + Format.count(skipped) + " skipped: their content is not kept");
            return problem.isEmpty()
                    ? done + "."
                    : done + "; " + (left < 0 ? "others" : Format.count(left)) + " remain: " + problem;
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
            Mono<List<SourceBacklog>> sources = problem.isEmpty() && after.isEmpty()
                    && wanted.source.isEmpty() && runtime == null
                            ? webhooks.backlogs(SOURCES)
                            : Mono.just(List.of());
            return page.zipWith(sources,
                    (found, backlogs) -> view(request, wanted, found, backlogs, after, problem));
        });
    }

    private String nameOf(String runtimeId) {
        RegisteredRuntime runtime = store.byId(runtimeId);
        return runtime == null ? "" : runtime.name().toString();
    }

    /** The content is for those who may send it again: it may hold what the provider tells its receivers. */
    private Mono<PageAnswer> one(PageRequest request) {
        return Mono.defer(() -> {
            String id = request.segment("id");
            boolean mayRead = RuntimePages.role(request).covers(AdminRole.OPERATE);
            Mono<Optional<WebhookDetail.Content>> content = mayRead
                    ? webhooks.head(id, WebhookDetail.MOST)
                            .map(head -> Optional.of(WebhookDetail.Content.of(head)))
                            .defaultIfEmpty(Optional.empty())
                    : Mono.just(Optional.empty());
            return webhooks.entry(id)
                    .switchIfEmpty(Mono.error(() -> HandlerException.of(Reason.NOT_FOUND,
                            "There is no such webhook. Delivered ones are kept for a while.")))
                    .zipWith(content, (entry, found) -> PageAnswer.View.of("Webhook of " + entry.source(),
                            WebhookList.PATH, templates.content("webhook.jte",
                                    new WebhookDetail(
                                            WebhookList.Row.of(entry, nameOf(entry.runtimeId())),
                                            found.orElse(null), mayRead, mayRead, events.of(id)))));
        });
    }

    private Mono<PageAnswer> askReplayOfOne(PageRequest request) {
        return Mono.fromSupplier(() -> {
            requireOperator(request);
            String id = request.segment("id");
            return question("Replay this webhook?",
                    "Its event source receives " + id + " again, behind those that wait.", "Replay",
                    WebhookList.PATH + "/" + RuntimeList.encoded(id) + "/replay",
                    Wanted.of(request.query()), request);
        });
    }

    private PageAnswer view(PageRequest request, Wanted wanted, InboxPage page, List<SourceBacklog> backlogs,
            String after, String problem) {
        String next = page.next();
        return PageAnswer.View.of("Webhooks", WebhookList.PATH, templates.content("webhooks.jte",
                new WebhookList(page.entries()
                        .stream()
                        .map(entry -> WebhookList.Row.of(entry, nameOf(entry.runtimeId())))
                        .toList(),
                        backlogs.stream()
                                .map(each -> WebhookList.Source.of(each, nameOf(each.runtimeId())))
                                .toList(),
                        wanted.state, wanted.runtime, wanted.source, problem, !after.isEmpty(),
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
        return Mono.defer(() -> {
            requireOperator(request);
            Wanted wanted = Wanted.of(request.query());
            return count(request, wanted).map(matched -> question("Replay " + wanted.replayed() + "?",
                    Format.plural(matched, "webhook is", "webhooks are") + " sent again, in order.", "Replay",
                    WebhookList.PATH + "/replay", wanted, request));
        });
    }

    private static void requireOperator(PageRequest request) {
        if (!RuntimePages.role(request).covers(AdminRole.OPERATE)) {
            throw HandlerException.of(Reason.FORBIDDEN, "This needs a token of the role operate.");
        }
    }

    private PageAnswer question(String title, String text, String button, String action, Wanted wanted,
            PageRequest request) {
        return PageAnswer.View.of(title, WebhookList.PATH, templates.content("confirm.jte",
                new Confirmation(title, text, button, false, action, wanted.path(),
                        Map.of("state", wanted.state, "runtime", wanted.runtime, "source", wanted.source),
                        request.session().csrfToken())));
    }

    /** The number of webhooks that a replay takes now. */
    private Mono<Long> count(PageRequest request, Wanted wanted) {
        return calls.call(request, HttpMethod.POST, API + "replay", with(wanted.body(), "dryRun", true))
                .map(counted -> counted.path("matched").asLong());
    }

    /** Replays in steps. A failure after the first step is reported with what was done before. */
    private Mono<PageAnswer> replayMany(PageRequest request) {
        Wanted wanted = Wanted.of(request.form());
        return step(request, wanted.body())
                .expand(done -> done.next() == null
                        ? Mono.empty()
                        : step(request, with(wanted.body(), "next", done.next()))
                                .onErrorResume(failed -> count(request, wanted).onErrorReturn(-1L)
                                        .map(left -> Replayed.failed(Failure.of(failed).problem().detail(),
                                                left))))
                .reduce(Replayed::plus)
                .map(done -> new PageAnswer.Redirect(wanted.path(), done.words()));
    }

    private Mono<Replayed> step(PageRequest request, Map<String, Object> body) {
        return calls.call(request, HttpMethod.POST, API + "replay", body).map(Replayed::of);
    }

    private static Map<String, Object> with(Map<String, Object> body, String name, Object value) {
        body.put(name, value);
        return body;
    }

    private Mono<PageAnswer> askPause(PageRequest request) {
        return Mono.fromSupplier(() -> {
            requireOperator(request);
            Wanted wanted = Wanted.of(request.query());
            return question("Pause " + wanted.source + " of " + wanted.runtime + "?",
                    "Nothing is delivered until it is resumed. Webhooks are still stored.", "Pause",
                    WebhookList.PATH + "/pause", wanted, request);
        });
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
