package dev.culvert.server.page;

import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRole;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.observe.TunnelFigures;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.page.request.RequestPages;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.store.StoreException;
import dev.culvert.web.Assets;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.NavItem;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Site;
import dev.culvert.web.Templates;
import dev.culvert.web.WebUser;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The admin listener: the API below {@code /api/}, with bearer tokens, and the web pages, with log-in
 * sessions. Pages read the server's state directly; what they change goes through the API's own calls.
 */
public final class OperatorPages implements EdgeHandler, AutoCloseable {
    private static final String API = "/api/";
    private static final Set<String> API_PATHS = Set.of("/openapi.yaml");
    private static final String HINT = "It is in the server's file admin.tokenFile, or an administrator makes one: culvert admin-token create.";

    private static final List<NavItem> NAV = List.of(new NavItem("/", "Overview"),
            new NavItem(RuntimePages.LIST, "Runtimes"),
            new NavItem(RequestPages.LIST, "Requests"), new NavItem(WebhookList.PATH, "Webhooks"),
            new NavItem(EventsPage.PATH, "Events"), new NavItem(AuditPage.PATH, "Audit"),
            new NavItem(ConfigurationPage.PATH, "Configuration"));

    private final AdminApi api;
    private final Site site;
    private final LiveFeed feed = new LiveFeed(Schedulers.parallel(), Schedulers.boundedElastic());
    private final Disposable live;

    /**
     * Makes the handler. Reads assets from the jars: blocks.
     *
     * @param figures the figures of all tunnels
     * @param server the URL by which clients reach this server
     * @param configuration the values in force, secrets masked
     * @param plain the address of the listener if it does not encrypt, else null: it has no log-in for other
     *     machines then
     */
    public OperatorPages(AdminApi api, AdminApi.Parts parts, TunnelFigures figures,
            Supplier<String> server, List<ConfigBinding.Effective> configuration,
            @Nullable HostPort plain) {
        this.api = api;
        Templates templates = Templates.of("culvert.pages.server", OperatorPages.class);
        var rows = new RuntimeRows(parts.store(), parts.tunnels(), parts.quotas());
        var history = new FleetHistory(figures);
        var calls = new AdminCalls(api);
        var overview = new OverviewPage(templates, rows, history, parts.inbox(), feed,
                parts.requests().traffic(), parts.clock());
        var requests = new RequestPages(templates, parts.requests(), this::goesOn);
        var runtimePages = new RuntimePages(templates, parts, rows, feed, requests);
        var events = new EventsPage(templates, feed);
        List<PageRoute> pages = new ArrayList<>(overview.routes());
        pages.addAll(runtimePages.routes());
        pages.addAll(new RuntimeActions(templates, runtimePages, calls, feed, server).routes());
        pages.addAll(new WebhookPages(templates, parts.inbox().webhooks(), parts.store(), calls, events)
                .routes());
        pages.addAll(requests.routes());
        pages.addAll(events.routes());
        pages.addAll(new AuditPage(templates, parts.audit()).routes());
        pages.addAll(new ConfigurationPage(templates, configuration).routes());
        pages.add(PageRoute.get("/live", this::live));
        pages.replaceAll(page -> page.translating(OperatorPages::problem));
        site = new Site(new Site.Parts("Culvert", "Tunnel server " + server.get() + ".", HINT,
                plain == null ? null : unencrypted(plain), NAV, pages,
                Assets.load(),
                token -> user(api.access(), token), parts.clock()));
        var runtimes = new LiveRuntimes(templates, rows, history, overview, feed, parts.clock());
        live = Disposables.composite(runtimes.start(), parts.events().follow(runtimes::on),
                parts.events().follow(events::on));
    }

    private static String unencrypted(HostPort listen) {
        return "Give the listener a certificate (admin.tls), or forward a port to its loopback address (admin.listen 127.0.0.1 or 0.0.0.0): "
                + "ssh -L " + listen.port() + ":127.0.0.1:" + listen.port()
                + " SERVER, then open http://localhost:" + listen.port() + "/.";
    }

    /** The live updates of the topics that a page names. */
    private Mono<PageAnswer> live(PageRequest request) {
        return feed.answer(request, Set.copyOf(request.query().all("topic")), request.query().text("since"),
                goesOn(request));
    }

    private Mono<Boolean> goesOn(PageRequest request) {
        return site.login().goesOn(request.session());
    }

    /** The session keeps the token's hash, so that it ends with the token, and no secret. */
    private static Mono<WebUser> user(AdminAccess access, String token) {
        var proof = AdminAccess.Proof.of(token);
        return access.caller(proof)
                .filter(caller -> caller.role() != AdminRole.REGISTRAR) // a program's
                .map(caller -> new WebUser(caller, caller.role().word(),
                        Mono.defer(() -> access.caller(proof))
                                .map(now -> now.equals(caller))
                                .defaultIfEmpty(false)
                                .onErrorMap(OperatorPages::problem)))
                .onErrorMap(OperatorPages::problem);
    }

    /** A store's error as the API answers it. */
    private static Throwable problem(Throwable error) {
        return error instanceof StoreException refused ? AdminHandler.refusal(refused) : error;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        return path.startsWith(API) || API_PATHS.contains(path) ? api.handle(request) : site.handle(request);
    }

    /** Ends the live updates. */
    @Override
    public void close() {
        live.dispose();
        feed.close();
    }
}
