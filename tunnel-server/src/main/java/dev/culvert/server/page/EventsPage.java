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
    private final ArrayDeque<EventRow> lines = new ArrayDeque<>();

    EventsPage(Templates templates, LiveFeed feed) {
        this.templates = templates;
        this.feed = feed;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(PATH, this::show));
    }

    /** Keeps an event. Called on any thread; does not block. */
    void on(ServerEvent event) {
        EventRow line = EventRow.of(event);
        synchronized (lines) {
            lines.addFirst(line);
            if (lines.size() > MAX) {
                lines.removeLast();
            }
        }
        feed.added(TOPIC, () -> templates.content("eventRow.jte", line));
    }

    private Mono<PageAnswer> show(PageRequest request) {
        return Mono.fromSupplier(() -> {
            String live = feed.position();
            List<EventRow> shown;
            synchronized (lines) {
                shown = new ArrayList<>(lines);
            }
            return PageAnswer.View.of("Events", PATH, templates.content("events.jte",
                    new EventList(shown, "/live?since=" + live + "&topic=" + TOPIC)));
        });
    }
}
