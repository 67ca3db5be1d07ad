package dev.culvert.server.page;

import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/** The last events of this server, and those that follow. Kept in memory, the last {@link #MAX}. */
final class EventsPage {
    static final int MAX = 300;
    static final String PATH = "/events";
    private static final String TOPIC = "events";

    private final Templates templates;
    private final LiveFeed feed;
    /** The newest first. Guarded by itself. */
    private final ArrayDeque<ServerEvent> events = new ArrayDeque<>();

    EventsPage(Templates templates, LiveFeed feed) {
        this.templates = templates;
        this.feed = feed;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(PATH, this::show));
    }

    /** Keeps an event. Called on any thread; does not block. */
    void on(ServerEvent event) {
        synchronized (events) {
            events.addFirst(event);
            if (events.size() > MAX) {
                events.removeLast();
            }
        }
        feed.added(TOPIC, () -> templates.content("eventRow.jte", EventRow.of(event)));
    }

    private Mono<PageAnswer> show(PageRequest request) {
        return Mono.fromSupplier(() -> {
            String live = feed.position();
            List<ServerEvent> shown;
            synchronized (events) {
                shown = new ArrayList<>(events);
            }
            return PageAnswer.View.of("Events", PATH, templates.content("events.jte",
                    new EventList(shown.stream().map(EventRow::of).toList(),
                            "/live?since=" + live + "&topic=" + TOPIC)));
        });
    }
}
