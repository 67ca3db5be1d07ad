package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The last events of this server, and those that follow. Kept in memory: the last {@link #MAX} of runtimes
 * and the last of webhooks apart, so that many webhooks do not hide what happened to a runtime. Webhooks that
 * are stored and delivered as they should be are left out.
 */
final class EventsPage {
    static final int MAX = 300;
    static final String PATH = "/events";

    private final Templates templates;
    private final LiveFeed feed;
    private final Kept runtimes = new Kept("events");
    private final Kept webhooks = new Kept("webhook-events");

    EventsPage(Templates templates, LiveFeed feed) {
        this.templates = templates;
        this.feed = feed;
    }

    /** The last events of one sort. Guarded by itself. */
    private static final class Kept {
        final String topic;
        /** The newest first. */
        final ArrayDeque<ServerEvent> events = new ArrayDeque<>();

        Kept(String topic) {
            this.topic = topic;
        }
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(PATH, this::show));
    }

    /** Keeps an event. Called on any thread; does not block. */
    void on(ServerEvent event) {
        if (event instanceof ServerEvent.OfWebhook webhook && isUsual(webhook.event().kind())) {
            return;
        }
        Kept kept = event instanceof ServerEvent.OfWebhook ? webhooks : runtimes;
        // Kept and published at once: a page shows an event, or receives it, but never both.
        synchronized (kept) {
            kept.events.addFirst(event);
            if (kept.events.size() > MAX) {
                kept.events.removeLast();
            }
            feed.added(kept.topic, () -> templates.content("eventRow.jte", EventRow.of(event)));
        }
    }

    /** The events of one webhook that are kept, the newest first. */
    List<EventRow> of(String webhook) {
        synchronized (webhooks) {
            return webhooks.events.stream()
                    .filter(event -> event instanceof ServerEvent.OfWebhook of
                            && of.event().id().equals(webhook))
                    .map(EventRow::of)
                    .toList();
        }
    }

    private static boolean isUsual(InboxEvent.Kind kind) {
        return kind == InboxEvent.Kind.STORED || kind == InboxEvent.Kind.DELIVERED;
    }

    private Mono<PageAnswer> show(PageRequest request) {
        return Mono.fromSupplier(() -> {
            List<ServerEvent> shown;
            String live;
            synchronized (runtimes) {
                synchronized (webhooks) {
                    live = feed.position();
                    shown = new ArrayList<>(runtimes.events);
                    shown.addAll(webhooks.events);
                }
            }
            shown.sort(Comparator.comparing(ServerEvent::at).reversed());
            return PageAnswer.View.of("Events", PATH, templates.content("events.jte",
                    new EventList(shown.stream().map(EventRow::of).toList(), "/live?since=" + live
                            + "&topic=" + runtimes.topic + "&topic=" + webhooks.topic)));
        });
    }
}
