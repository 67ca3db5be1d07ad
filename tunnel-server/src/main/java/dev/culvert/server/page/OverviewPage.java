package dev.culvert.server.page;

import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.PendingWebhooks;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.relay.observe.RequestTraffic;
import dev.culvert.server.page.traffic.FailingRuntimes;
import dev.culvert.server.page.traffic.FailingRuntimes.Failing;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The first page: what is wrong, then the fleet in figures. */
final class OverviewPage {
    private final Templates templates;
    private final RuntimeRows rows;
    private final FleetHistory history;
    private final Inbox inbox;
    private final LiveFeed feed;
    private final RequestTraffic traffic;
    private final FailingRuntimes failing = new FailingRuntimes();
    private final Clock clock;
    /** The runtimes that failed when they were last looked at. Used by one thread at a time. */
    private Set<String> failed = Set.of();
    /** The pending webhooks, when they were last looked for; null: none. */
    private volatile @Nullable PendingWebhooks pending;
    /** The newest dead webhook, when it was last looked for; null: none. */
    private volatile @Nullable InboxEntry dead;

    OverviewPage(Templates templates, RuntimeRows rows, FleetHistory history, Inbox inbox, LiveFeed feed,
            RequestTraffic traffic, Clock clock) {
        this.templates = templates;
        this.rows = rows;
        this.history = history;
        this.inbox = inbox;
        this.feed = feed;
        this.traffic = traffic;
        this.clock = clock;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get("/", this::show));
    }

    /** Runs off the event loop, because it looks at every runtime. */
    private Mono<PageAnswer> show(PageRequest request) {
        return look().then(Mono.<PageAnswer>fromSupplier(() -> {
            String live = feed.position();
            return PageAnswer.View.of("Overview", "/", templates.content("overview.jte", now(live)));
        }).subscribeOn(Schedulers.boundedElastic()));
    }

    /** Looks for dead and for pending webhooks. Completes also when the inbox can't be read. */
    Mono<Void> look() {
        Mono<Void> newestDead = inbox.webhooks()
                .list(InboxQuery.of(WebhookState.DEAD, 1))
                .doOnNext(page -> dead = page.entries().isEmpty() ? null : page.entries().getFirst())
                .then();
        Mono<Void> oldestPending = inbox.webhooks()
                .pending()
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .doOnNext(found -> pending = found.orElse(null))
                .then();
        return newestDead.then(oldestPending).onErrorComplete();
    }

    /** Judges the requests also while nobody looks. Returns whether other runtimes fail than before. */
    boolean watch() {
        Set<String> now = new HashSet<>();
        for (Failing each : failing.look(traffic.byRuntime(FailingRuntimes.SLOTS), clock.instant())) {
            now.add(each.traffic().runtime());
        }
        boolean changed = !now.equals(failed);
        failed = now;
        return changed;
    }

    Overview now(String live) {
        return Overview.of(rows, history,
                new Overview.Webhooks(inbox.intake().trouble(), dead, pending),
                Overview.Requests.of(traffic, failing, clock.instant()), clock.instant(), live);
    }
}
