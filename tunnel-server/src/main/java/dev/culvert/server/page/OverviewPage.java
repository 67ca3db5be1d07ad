package dev.culvert.server.page;

import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.util.List;
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
    /** The newest dead webhook, when it was last looked for; null: none. */
    private volatile @Nullable InboxEntry dead;

    OverviewPage(Templates templates, RuntimeRows rows, FleetHistory history, Inbox inbox, LiveFeed feed) {
        this.templates = templates;
        this.rows = rows;
        this.history = history;
        this.inbox = inbox;
        this.feed = feed;
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

    /** Looks for the newest dead webhook. Completes also when the inbox can't be read. */
    Mono<Void> look() {
        return inbox.webhooks()
                .list(InboxQuery.of(WebhookState.DEAD, 1))
                .doOnNext(page -> dead = page.entries().isEmpty() ? null : page.entries().getFirst())
                .onErrorComplete()
                .then();
    }

    Overview now(String live) {
        return Overview.of(rows, history, inbox.intake().trouble(), dead, live);
    }
}
