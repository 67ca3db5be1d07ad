package dev.culvert.web;

import dev.culvert.handlers.server.Failure;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.problem.Problem;
import gg.jte.Content;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * A web site: pages for people who have logged in, the log-in, and the assets. Without a session every path
 * but those of the assets leads to the log-in, so it reveals nothing.
 */
public final class Site implements EdgeHandler {
    static final String LOGIN = "/login";
    private static final Logger log = LoggerFactory.getLogger(Site.class);
    private static final int MAX_FORM_BYTES = 64 << 10;
    private static final String HTML = "text/html; charset=utf-8";
    private static final int SERVER_ERROR = 500;

    private final Parts parts;
    private final Templates templates = Templates.of("culvert.pages.web", Site.class);
    private final Login login;

    public Site(Parts parts) {
        this.parts = parts;
        this.login = new Login(parts.credentials(), parts.hint(), parts.clock());
    }

    /**
     * What a site consists of.
     *
     * @param product the name that titles begin with
     * @param server what one logs in to, or empty
     * @param hint where a person finds a token
     * @param unencrypted what to do about a listener that does not encrypt, for a person on another machine,
     *     who gets no log-in; null: it encrypts
     * @param nav the navigation
     * @param pages the pages and actions
     * @param assets the style sheets and scripts
     * @param credentials judges tokens
     * @param clock the time of sessions
     */
    public record Parts(String product, String server, String hint, @Nullable String unencrypted,
            List<NavItem> nav,
            List<PageRoute> pages, Assets assets, LoginCheck credentials, java.time.Clock clock) {
        public Parts {
            nav = List.copyOf(nav);
            pages = List.copyOf(pages);
        }
    }

    /** The sessions of people who have logged in. */
    public Login login() {
        return login;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        if (path.startsWith(Assets.PREFIX)) {
            return parts.assets().answer(request);
        }
        return login.session(request)
                .flatMap(session -> page(request, session))
                .switchIfEmpty(Mono.defer(() -> stranger(request)))
                .onErrorResume(failed -> Mono.just(failed(request, null, failed)));
    }

    /** Answers without a session. */
    private Mono<EdgeResponse> stranger(EdgeRequest request) {
        if (!request.path().equals(LOGIN)) {
            return Mono.just(toLogin(request));
        }
        if (isOpen(request)) {
            return Mono.just(loginPage(request, HttpResponseStatus.FORBIDDEN, "/", ""));
        }
        if (isRead(request)) {
            FormFields query = FormFields.of(request.query());
            return Mono.just(loginPage(request, HttpResponseStatus.OK, local(query.text("to")),
                    query.values().containsKey("entered") ? Login.NO_COOKIE : ""));
        }
        if (!request.method().equals(HttpMethod.POST)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD,
                    HttpMethod.POST));
        }
        return form(request).flatMap(form -> login.enter(request, form)
                .<EdgeResponse>map(cookie -> seeOther(
                        LOGIN + "?entered&to=" + encoded(local(form.text("to"))))
                        .with(HttpHeaderNames.SET_COOKIE, cookie))
                .onErrorResume(refused -> Mono.just(refusedLogin(request, form, refused))));
    }

    /** Whether others could read a token on its way. */
    private boolean isOpen(EdgeRequest request) {
        InetAddress peer = request.context().remote().getAddress();
        return parts.unencrypted() != null && (peer == null || !peer.isLoopbackAddress());
    }

    private EdgeResponse refusedLogin(EdgeRequest request, FormFields form, Throwable refused) {
        Problem problem = judged(request, refused).problem();
        EdgeResponse.Http page = loginPage(request, HttpResponseStatus.valueOf(problem.cause().status()),
                local(form.text("to")), problem.detail());
        return problem.retryAfter() == null
                ? page
                : page.with(HttpHeaderNames.RETRY_AFTER, problem.retryAfterSeconds());
    }

    /**
     * A script can't follow a redirect to another page: it reads a field. Live updates get the event that
     * ends them, because a browser hides the status of their answer from scripts.
     */
    private static EdgeResponse toLogin(EdgeRequest request) {
        if (request.headers().contains("hx-request")) {
            return PageFields.page(EdgeResponse.Http.empty(HttpResponseStatus.UNAUTHORIZED))
                    .with("hx-redirect", LOGIN);
        }
        String accept = request.headers().get(HttpHeaderNames.ACCEPT, "");
        if (accept.startsWith("text/event-stream")) {
            return PageFields.page(EdgeResponse.Http.of(HttpResponseStatus.OK, "text/event-stream",
                    LiveFeed.ended()));
        }
        return isRead(request) && !request.path().equals("/")
                ? seeOther(LOGIN + "?to=" + encoded(request.target()))
                : seeOther(LOGIN);
    }

    private Mono<EdgeResponse> page(EdgeRequest request, WebSession session) {
        EdgeRequest ours = request
                .withContext(request.context().withCaller(session.user().principal()));
        return switch (request.path()) {
            case LOGIN -> Mono.just(seeOther(
                    "/".equals(local(FormFields.of(request.query()).text("to")))
                            ? "/"
                            : local(FormFields.of(request.query()).text("to"))));
            case "/logout" -> action(ours, session, form -> {
                login.leave(session);
                return Mono.just(seeOther(LOGIN).with(HttpHeaderNames.SET_COOKIE, Login.noSession(request)));
            });
            case "/theme" -> action(ours, session,
                    form -> Mono
                            .just(redirect(ours, local(form.text("back"))).with(HttpHeaderNames.SET_COOKIE,
                                    Theme.cookie(form.text("theme")))));
            default -> Mono.defer(() -> route(ours, session))
                    .onErrorResume(failed -> Mono.just(failed(ours, session, failed)));
        };
    }

    private interface Action {
        Mono<EdgeResponse> of(FormFields form);
    }

    private Mono<EdgeResponse> action(EdgeRequest request, WebSession session, Action action) {
        return request.method().equals(HttpMethod.POST)
                ? ownForm(request, session).flatMap(action::of)
                        .onErrorResume(failed -> Mono.just(failed(request, session, failed)))
                : Mono.just(failed(request, session, HandlerException.methodNotAllowed(HttpMethod.POST)));
    }

    private Mono<EdgeResponse> route(EdgeRequest request, WebSession session) {
        Set<HttpMethod> allowed = new LinkedHashSet<>();
        for (PageRoute route : parts.pages()) {
            Map<String, String> segments = route.template().match(request.path());
            if (segments == null) {
                continue;
            }
            FormFields query = FormFields.of(request.query());
            if (route.method().equals(HttpMethod.GET) && isRead(request)) {
                return route.call()
                        .answer(new PageRequest(request, session, segments, query, FormFields.NONE))
                        .map(answer -> response(request, session, answer));
            }
            if (route.method().equals(request.method())) {
                return ownForm(request, session)
                        .flatMap(form -> route.call()
                                .answer(new PageRequest(request, session, segments, query, form)))
                        .map(answer -> response(request, session, answer));
            }
            allowed.add(route.method());
        }
        return Mono.error(allowed.isEmpty()
                ? HandlerException.of(Reason.NOT_FOUND, "there is no such page")
                : HandlerException.methodNotAllowed(allowed.toArray(HttpMethod[]::new)));
    }

    /** The form that one of this site's pages sent. Errors: FORBIDDEN for a form of another origin. */
    private static Mono<FormFields> ownForm(EdgeRequest request, WebSession session) {
        return form(request).flatMap(form -> Login.isSame(session.csrfToken(), form.text("csrf"))
                ? Mono.just(form)
                : Mono.error(HandlerException.of(Reason.FORBIDDEN,
                        "the form is not from a page of this session; load the page again")));
    }

    private static Mono<FormFields> form(EdgeRequest request) {
        return SameOrigin.of(request.headers())
                ? request.aggregate(MAX_FORM_BYTES)
                        .map(body -> FormFields.of(new String(body, StandardCharsets.UTF_8)))
                : Mono.error(HandlerException.of(Reason.FORBIDDEN, "the form is not from this site"));
    }

    private EdgeResponse response(EdgeRequest request, WebSession session, PageAnswer answer) {
        return switch (answer) {
            case PageAnswer.Raw raw -> PageFields.page(raw.response());
            case PageAnswer.Redirect redirect -> {
                session.say(redirect.said());
                yield redirect(request, redirect.location());
            }
            case PageAnswer.View view -> html(view.status(), new Layout(parts.product(), view.title(),
                    parts.nav(), view.section(), path(request, view), Theme.of(request.headers()), session,
                    isRead(request) ? session.takeSaid() : "", parts.assets(), view.body()));
        };
    }

    private static String path(EdgeRequest request, PageAnswer.View view) {
        String path = view.path();
        return path != null ? path : isRead(request) ? request.target() : view.section();
    }

    /** A script reads the target of the redirect from a field, so that the page itself is replaced. */
    private static EdgeResponse.Http redirect(EdgeRequest request, String location) {
        return request.headers().contains("hx-request")
                ? PageFields.page(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT))
                        .with("hx-redirect", location)
                : seeOther(location);
    }

    private static Failure judged(EdgeRequest request, Throwable error) {
        Failure failure = Failure.of(error);
        if (!failure.expected()) {
            log.atError()
                    .setCause(error)
                    .addKeyValue("requestId", request.context().requestId())
                    .log("page failed");
        }
        return failure;
    }

    /** The page of a problem; without a session it has no navigation. */
    private EdgeResponse failed(EdgeRequest request, @Nullable WebSession session, Throwable error) {
        Failure failure = judged(request, error);
        Problem problem = failure.problem();
        String detail = problem.cause().status() == SERVER_ERROR
                ? problem.detail() + "; the log names it by the request id "
                        + request.context().requestId()
                : problem.detail();
        Content body = templates.content("problem.jte",
                new ShownProblem(problem.cause().status(), problem.cause().title(), detail));
        EdgeResponse.Http page = html(HttpResponseStatus.valueOf(problem.cause().status()),
                new Layout(parts.product(), problem.cause().title(), parts.nav(), "", "/",
                        Theme.of(request.headers()), session, "", parts.assets(), body));
        failure.fields().forEach(field -> page.headers().set(field.getKey(), field.getValue()));
        return problem.retryAfter() == null
                ? page
                : page.with(HttpHeaderNames.RETRY_AFTER, problem.retryAfterSeconds());
    }

    private EdgeResponse.Http loginPage(EdgeRequest request, HttpResponseStatus status, String to,
            String problem) {
        return html(status, new Layout(parts.product(), "Log in", List.of(), "", "/",
                Theme.of(request.headers()), null, "", parts.assets(),
                templates.content("login.jte", new LoginForm(parts.server(), to, problem, parts.hint(),
                        isOpen(request) ? parts.unencrypted() : null))));
    }

    private EdgeResponse.Http html(HttpResponseStatus status, Layout layout) {
        return PageFields.page(
                EdgeResponse.Http.of(status, HTML, templates.bytes("layout.jte", layout)));
    }

    private static EdgeResponse.Http seeOther(String location) {
        return PageFields.page(EdgeResponse.Http.empty(HttpResponseStatus.SEE_OTHER))
                .with(HttpHeaderNames.LOCATION, location);
    }

    private static boolean isRead(EdgeRequest request) {
        return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
    }

    /** A path of this site, or {@code /}: a link to the log-in can't lead elsewhere. */
    static String local(String path) {
        boolean ours = path.startsWith("/") && !path.startsWith("//")
                && path.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '\\');
        return ours ? path : "/";
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
