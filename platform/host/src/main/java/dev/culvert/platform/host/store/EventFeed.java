package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.EventPage;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * The change feed of all modules, in one table. Events are kept until the end of their change and numbered
 * right before its commit ({@link EventTable}). Where other processes change the same database, the feed
 * looks for their events every 200 ms.
 */
public final class EventFeed {
    /** The maximum number of events in one page. */
    private static final int PAGE = 1_000;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    private final PlatformStore store;
    private final EventTable table;
    /** Rings after a commit that added events. A ring that nobody hears is not missed: readers read all. */
    private final Sinks.Many<Boolean> bell = Sinks.many().multicast().directBestEffort();
    private final Flux<Boolean> rings;

    /** @param maxEvents the number of events to keep */
    public EventFeed(PlatformStore store, int maxEvents) {
        this.store = store;
        this.table = new EventTable(store.engine(), PAGE);
        this.rings = store.engine() == Database.Engine.SQLITE
                ? bell.asFlux()
                : bell.asFlux().mergeWith(ofOthers()).share();
        store.beforeCommit((connection, change) -> {
            if (!change.events().isEmpty()) {
                table.add(connection, change.events(), maxEvents);
            }
        });
        store.afterCommit(change -> {
            if (!change.events().isEmpty()) {
                bell.tryEmitNext(true);
            }
        });
    }

    /** The feed as one module sees it. */
    public Events of(String module) {
        return new OfModule(module);
    }

    private Flux<Boolean> ofOthers() {
        return Flux.interval(POLL)
                .onBackpressureDrop()
                .concatMap(tick -> store.read(table::last).onErrorComplete(), 0)
                .distinctUntilChanged()
                .map(last -> true);
    }

    private Flux<Event> follow(Runnable begun) {
        return Mono.defer(() -> store.read(table::last)).flatMapMany(start -> {
            var position = new AtomicLong(start);
            begun.run();
            return rings.startWith(true)
                    .onBackpressureLatest()
                    .concatMap(ring -> patiently(after(position)), 0);
        });
    }

    /** Reads on from the same position when a server was away. A file is away only when it was closed. */
    private Flux<Event> patiently(Flux<Event> events) {
        return store.engine() == Database.Engine.SQLITE
                ? events
                : events.retryWhen(Retry.backoff(Long.MAX_VALUE, POLL)
                        .maxBackoff(LONGEST_PAUSE)
                        .filter(failed -> !store.isClosed()));
    }

    /** All events after the position, page by page. */
    private Flux<Event> after(AtomicLong position) {
        return Mono.defer(() -> store.read(connection -> table.after(connection, position.get())))
                .doOnNext(page -> page.stream().mapToLong(Event::seq).max().ifPresent(position::set))
                .repeat()
                .takeUntil(page -> page.size() < PAGE)
                .concatMap(Flux::fromIterable, 0);
    }

    private final class OfModule implements Events {
        private final String module;

        OfModule(String module) {
            this.module = module;
        }

        @Override
        public void add(Connection change, String account, String kind, @Nullable String subject)
                throws SQLException {
            store.changeOn(change).add(new PlatformChange.NewEvent(account, module, kind, subject));
        }

        @Override
        public EventPage since(Connection connection, String account, long since) throws SQLException {
            long last = table.last(connection);
            if (since < 0) {
                return new EventPage(last, false, false, List.of());
            }
            if (since > last || since + 1 < table.oldest(connection)) {
                return new EventPage(last, true, false, List.of());
            }
            List<Event> read = table.after(connection, account, module, since);
            boolean more = read.size() == PAGE;
            return new EventPage(more ? read.getLast().seq() : last, false, more, read);
        }

        @Override
        public Flux<Event> follow(Runnable begun) {
            return EventFeed.this.follow(begun);
        }
    }
}
