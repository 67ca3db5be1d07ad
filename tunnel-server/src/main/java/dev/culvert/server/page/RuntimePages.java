package dev.culvert.server.page;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminRole;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.page.request.RequestPages;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.time.Clock;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The list of runtimes, and the page of one. */
final class RuntimePages {
    static final String LIST = "/runtimes";

    private final Templates templates;
    private final RuntimeRows rows;
    private final RuntimeQuotas quotas;
    private final AccessDefault withoutRules;
    private final LiveFeed feed;
    private final Clock clock;
    private final RequestPages requests;

    RuntimePages(Templates templates, AdminApi.Parts parts, RuntimeRows rows, LiveFeed feed,
            RequestPages requests) {
        this.templates = templates;
        this.rows = rows;
        this.quotas = parts.quotas();
        this.withoutRules = parts.withoutRules();
        this.feed = feed;
        this.requests = requests;
        this.clock = parts.clock();
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(LIST, this::list),
                PageRoute.get("/runtimes/{account}/{name}", this::one));
    }

    /** Runs off the event loop, because it looks at every runtime. */
    private Mono<PageAnswer> list(PageRequest request) {
        return Mono.<PageAnswer>fromSupplier(() -> {
            RuntimeList list = RuntimeList.of(request.query(), rows, clock.instant(),
                    role(request).covers(AdminRole.ADMIN), feed.position(),
                    request.session().csrfToken());
            return PageAnswer.View.of("Runtimes", LIST, templates.content("runtimes.jte", list));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<PageAnswer> one(PageRequest request) {
        return Mono.fromSupplier(() -> {
            RegisteredRuntime runtime = present(request);
            String live = feed.position();
            RuntimeQuota quota = quotas.of(runtime.id(), runtime.limits());
            RuntimePage page = new RuntimePage(
                    RuntimeDetail.of(runtime, rows, clock.instant(), role(request), live),
                    AccessShown.of(runtime.access(), withoutRules, request.query().text("path"),
                            request.query().text("address")),
                    RuntimePage.limits(runtime.limits(), quota), RuntimePage.Usage.of(quota.usage()),
                    role(request), request.session().csrfToken(),
                    requests.problemsOf(runtime.name().toString()));
            return PageAnswer.View.of(runtime.name().toString(), LIST,
                    templates.content("runtime.jte", page));
        });
    }

    /** The runtime that the path names. Throws HandlerException when there is none. */
    RegisteredRuntime present(PageRequest request) {
        RegisteredRuntime runtime;
        try {
            runtime = rows.store()
                    .byName(new RuntimeName(request.segment("account"), request.segment("name")));
        } catch (InvalidNameException e) {
            runtime = null;
        }
        if (runtime == null) {
            throw HandlerException.of(Reason.NOT_FOUND,
                    "There is no such runtime. It may have been deleted.");
        }
        return runtime;
    }

    List<SessionView> sessions(RegisteredRuntime runtime) {
        return rows.tunnels().sessionsOf(runtime.id());
    }

    /** The state of a runtime; {@link RuntimeState#NEW} when there is none of this name. */
    RuntimeState state(String name) {
        int slash = name.indexOf('/');
        RegisteredRuntime runtime = rows.store()
                .byName(new RuntimeName(name.substring(0, slash), name.substring(slash + 1)));
        return runtime == null ? RuntimeState.NEW : rows.state(runtime);
    }

    static AdminRole role(PageRequest request) {
        return request.session().user().principal() instanceof AdminCaller caller
                ? caller.role()
                : AdminRole.READ;
    }
}
