package dev.culvert.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.admin.AdminRole;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.web.Format;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import io.netty.handler.codec.http.HttpMethod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What operators do with runtimes. Each action asks first on a page of its own, which scripts show as a
 * dialog, and is a call of the admin API.
 */
final class RuntimeActions {
    private static final String ONE = "/runtimes/{account}/{name}";
    private static final String API = "/api/v1/runtimes/";

    private final Templates templates;
    private final RuntimePages pages;
    private final AdminCalls calls;
    private final LiveFeed feed;
    private final Supplier<String> server;

    /** @param server the URL by which clients reach this server */
    RuntimeActions(Templates templates, RuntimePages pages, AdminCalls calls, LiveFeed feed,
            Supplier<String> server) {
        this.templates = templates;
        this.pages = pages;
        this.calls = calls;
        this.feed = feed;
        this.server = server;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.post(RuntimePages.LIST, this::create),
                PageRoute.get(ONE + "/drain", request -> ask(request, AdminRole.OPERATE, "Drain",
                        "Its sessions accept no new requests; those in flight have 30 s to end. The client connects again.",
                        false)),
                PageRoute.post(ONE + "/drain", this::drain),
                PageRoute.get(ONE + "/disconnect", request -> ask(request, AdminRole.OPERATE, "Disconnect",
                        "Requests in flight are cut. The client connects again.", true)),
                PageRoute.post(ONE + "/disconnect", this::disconnect),
                PageRoute.get(ONE + "/revoke", request -> ask(request, AdminRole.ADMIN, "Revoke",
                        "Its certificates and enrolment tokens become worthless at once, and its client is disconnected. The client needs a new enrolment token afterwards.",
                        true)),
                PageRoute.post(ONE + "/revoke", this::revoke),
                PageRoute.get(ONE + "/delete", request -> ask(request, AdminRole.ADMIN, "Delete",
                        "The runtime, its hosts, its rules and its stored webhooks are gone. Its client is disconnected.",
                        true)),
                PageRoute.post(ONE + "/delete", this::delete),
                PageRoute.get(ONE + "/enrol", this::waiting),
                PageRoute.post(ONE + "/enrol", this::enrol),
                PageRoute.post(ONE + "/limits", this::limits),
                PageRoute.post(ONE + "/hosts", this::hosts));
    }

    private Mono<PageAnswer> ask(PageRequest request, AdminRole needed, String verb, String text,
            boolean danger) {
        return Mono.fromSupplier(() -> {
            RegisteredRuntime runtime = pages.present(request);
            requireRole(request, needed);
            String session = request.query().text("session");
            String title = verb + " " + runtime.name() + (session.isEmpty() ? "?" : ", one session?");
            String path = "/runtimes/" + runtime.name();
            return PageAnswer.View.of(title, RuntimePages.LIST,
                    templates.content("confirm.jte", new Confirmation(title, text, verb, danger,
                            path + "/" + verb.toLowerCase(java.util.Locale.ROOT), path,
                            session.isEmpty() ? Map.of() : Map.of("session", session),
                            request.session().csrfToken())));
        });
    }

    private static void requireRole(PageRequest request, AdminRole needed) {
        if (!RuntimePages.role(request).covers(needed)) {
            throw HandlerException.of(Reason.FORBIDDEN,
                    "This needs a token of the role " + needed.word() + ".");
        }
    }

    private Mono<PageAnswer> drain(PageRequest request) {
        return sessions(request)
                .concatMap(
                        id -> calls.call(request, HttpMethod.POST, "/api/v1/tunnels/" + id + "/drain", null))
                .count()
                .map(count -> done(request,
                        Format.plural(count, "session drains.", "sessions drain.")));
    }

    private Mono<PageAnswer> disconnect(PageRequest request) {
        return sessions(request)
                .concatMap(id -> calls.call(request, HttpMethod.DELETE, "/api/v1/tunnels/" + id, null))
                .count()
                .map(count -> done(request,
                        Format.plural(count, "session was closed.", "sessions were closed.")));
    }

    /** The ids of the sessions that the form names: one of the runtime's, or all. */
    private Flux<String> sessions(PageRequest request) {
        return Flux.defer(() -> {
            RegisteredRuntime runtime = pages.present(request);
            String wanted = request.form().text("session");
            List<String> ids = pages.sessions(runtime)
                    .stream()
                    .map(SessionView::id)
                    .filter(id -> wanted.isEmpty() || id.equals(wanted))
                    .toList();
            return ids.isEmpty()
                    ? Flux.error(HandlerException.of(Reason.NOT_FOUND,
                            "There is no such session any more. Nothing was changed."))
                    : Flux.fromIterable(ids);
        });
    }

    private Mono<PageAnswer> revoke(PageRequest request) {
        return calls.call(request, HttpMethod.POST, path(request) + "/revoke", null)
                .map(revoked -> done(request,
                        "The certificates of this runtime are revoked. Enrol its client again."));
    }

    private Mono<PageAnswer> delete(PageRequest request) {
        return calls.call(request, HttpMethod.DELETE, path(request), null)
                .map(deleted -> new PageAnswer.Redirect(RuntimePages.LIST,
                        "The runtime " + request.segment("account") + "/" + request.segment("name")
                                + " is deleted."));
    }

    private Mono<PageAnswer> create(PageRequest request) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("account", request.form().text("account").strip());
        body.put("name", request.form().text("name").strip());
        return calls.call(request, HttpMethod.POST, "/api/v1/runtimes", body)
                .map(made -> enrolment(request,
                        made.path("account").asText() + "/" + made.path("name").asText(),
                        made));
    }

    private Mono<PageAnswer> enrol(PageRequest request) {
        return calls.call(request, HttpMethod.POST, path(request) + "/enrolment-tokens", null)
                .map(token -> enrolment(request, request.segment("account") + "/" + request.segment("name"),
                        token));
    }

    /** The token is shown once, in the answer itself, and kept nowhere. */
    private PageAnswer enrolment(PageRequest request, String runtime, JsonNode token) {
        String live = feed.position();
        return page(Enrolment.of(runtime, token.path("enrolmentToken").asText(),
                token.path("enrolmentExpiresAt").asText(), server.get(), pages.state(runtime), live,
                request.session().csrfToken()));
    }

    /** Where one returns who has seen the token: the page still waits for the client. */
    private Mono<PageAnswer> waiting(PageRequest request) {
        return Mono.fromSupplier(() -> {
            requireRole(request, AdminRole.OPERATE);
            String live = feed.position();
            String runtime = pages.present(request).name().toString();
            return page(Enrolment.waiting(runtime, pages.state(runtime), live,
                    request.session().csrfToken()));
        });
    }

    private PageAnswer page(Enrolment enrolment) {
        return PageAnswer.View
                .of("Enrol " + enrolment.runtime(), RuntimePages.LIST,
                        templates.content("enrol.jte", enrolment))
                .at(enrolment.path());
    }

    private Mono<PageAnswer> limits(PageRequest request) {
        Map<String, Object> body = new LinkedHashMap<>();
        for (RuntimeLimit limit : RuntimeLimit.values()) {
            String text = request.form().text(limit.key()).strip();
            if (!text.isEmpty()) {
                try {
                    body.put(limit.key(), Long.parseLong(text));
                } catch (NumberFormatException e) {
                    throw HandlerException.of(Reason.BAD_REQUEST,
                            limit.key() + ": not a number (expected: " + limit.accepts() + ")");
                }
            }
        }
        return calls.call(request, HttpMethod.PUT, path(request) + "/limits", body)
                .map(changed -> done(request, "The limits are changed, from the next request on."));
    }

    private Mono<PageAnswer> hosts(PageRequest request) {
        List<String> hosts = Arrays.stream(request.form().text("hosts").split("[\\s,]+", -1))
                .filter(host -> !host.isEmpty())
                .toList();
        return Mono.defer(() -> {
            List<String> gone = new ArrayList<>(pages.present(request).hosts());
            gone.removeAll(hosts);
            boolean asksNothing = gone.isEmpty() || request.form().text("sure").equals("yes")
                    || !RuntimePages.role(request).covers(AdminRole.ADMIN); // the API refuses it
            return asksNothing
                    ? calls.call(request, HttpMethod.PATCH, path(request), Map.of("hosts", hosts))
                            .map(changed -> done(request, "The custom hosts are changed."))
                    : Mono.just(askHosts(request, hosts, gone));
        });
    }

    /** Callers of a host that is taken away get 404. */
    private PageAnswer askHosts(PageRequest request, List<String> hosts, List<String> gone) {
        String runtime = request.segment("account") + "/" + request.segment("name");
        String path = RuntimePages.LIST + "/" + runtime;
        String title = "Take hosts away from " + runtime + "?";
        return PageAnswer.View.of(title, RuntimePages.LIST, templates.content("confirm.jte",
                new Confirmation(title, String.join(", ", gone) + ": its callers get 404 from then on.",
                        "Take away", true, path + "/hosts", path,
                        Map.of("hosts", String.join("\n", hosts), "sure", "yes"),
                        request.session().csrfToken())))
                .at(path);
    }

    private static PageAnswer done(PageRequest request, String said) {
        return new PageAnswer.Redirect("/runtimes/" + request.segment("account") + "/"
                + request.segment("name"), said);
    }

    private static String path(PageRequest request) {
        return API + request.segment("account") + "/" + request.segment("name");
    }
}
