package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.EventPage;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.store.Rows;
import dev.culvert.store.SqliteDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The change feed of all modules, in one table. */
public final class EventFeed {
    /** The maximum number of events in one page. */
    private static final int PAGE = 1_000;

    private final PlatformStore store;
    private final int maxEvents;
    /** Rings after a commit that added events. A ring that nobody hears is not missed: readers read all. */
    private final Sinks.Many<Boolean> bell = Sinks.many().multicast().directBestEffort();
    /** Confined to the database's thread. */
    private boolean added;

    /** @param maxEvents the number of events to keep */
    public EventFeed(PlatformStore store, int maxEvents) {
        this.store = store;
        this.maxEvents = maxEvents;
        store.afterCommit(() -> {
            if (added) {
                added = false;
                bell.tryEmitNext(true);
            }
        });
    }

    /** The feed as one module sees it. */
    public Events of(String module) {
        return new OfModule(module);
    }

    private Flux<Event> follow() {
        return Mono.defer(() -> store.read(EventFeed::last)).flatMapMany(start -> {
            var position = new AtomicLong(start);
            return bell.asFlux()
                    .startWith(true)
                    .onBackpressureLatest()
                    .concatMap(ring -> after(position), 0);
        });
    }

    /** All events after the position, page by page. */
    private Flux<Event> after(AtomicLong position) {
        return Mono.defer(() -> store.read(connection -> list(connection, "seq > ?", position.get())))
                .doOnNext(page -> page.stream().mapToLong(Event::seq).max().ifPresent(position::set))
                .repeat()
                .takeUntil(page -> page.size() < PAGE)
                .concatMap(Flux::fromIterable, 0);
    }

    private static long last(Connection connection) throws SQLException {
        Long seq = Rows.first(connection, row -> row.getLong(1),
                "SELECT seq FROM sqlite_sequence WHERE name = 'platform_events'");
        return seq == null ? 0 : seq;
    }

    private static List<Event> list(Connection connection, String where, Object... values)
            throws SQLException {
        return Rows.list(connection,
                row -> new Event(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
                        row.getString(5)),
                "SELECT seq, account, module, kind, subject FROM platform_events WHERE " + where
                        + " ORDER BY seq LIMIT " + PAGE,
                values);
    }

    private final class OfModule implements Events {
        private final String module;

        OfModule(String module) {
            this.module = module;
        }

        @Override
        public void add(Connection change, String account, String kind, @Nullable String subject)
                throws SQLException {
            SqliteDatabase.update(change,
                    "INSERT INTO platform_events (account, module, kind, subject) VALUES (?, ?, ?, ?)",
                    account, module, kind, subject);
            SqliteDatabase.update(change, "DELETE FROM platform_events WHERE seq <= ?",
                    last(change) - maxEvents);
            added = true;
        }

        @Override
        public EventPage since(Connection connection, String account, long since) throws SQLException {
            long last = last(connection);
            if (since < 0) {
                return new EventPage(last, false, false, List.of());
            }
            long oldest = Rows.count(connection, "SELECT coalesce(min(seq), 0) FROM platform_events");
            if (since > last || since + 1 < oldest) {
                return new EventPage(last, true, false, List.of());
            }
            List<Event> read = list(connection, "account = ? AND module = ? AND seq > ?", account, module,
                    since);
            boolean more = read.size() == PAGE;
            return new EventPage(more ? read.getLast().seq() : last, false, more, read);
        }

        @Override
        public Flux<Event> follow() {
            return EventFeed.this.follow();
        }
    }
}
