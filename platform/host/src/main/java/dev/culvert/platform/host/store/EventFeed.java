package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.EventPage;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.store.Database;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * The change feed of all modules, in one table. Events are kept until the end of their change and numbered
 * right before its commit ({@link EventTable}). Where other processes change the same database, the feed
 * looks for their events every 200 ms, and notices a database that went back or was away.
 */
public final class EventFeed {
    /** The maximum number of events in one page. */
    private static final int PAGE = 1_000;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
    /** How old the events may be that a follower has not got yet, for it to be current. */
    private static final Duration STALE = Duration.ofSeconds(60);
    private static final Logger log = LoggerFactory.getLogger(EventFeed.class);

    private final PlatformStore store;
    private final LongSupplier nanos;
    private final EventTable table;
    /** Rings after a commit that added events. A ring that nobody hears is not missed: readers read all. */
    private final Sinks.Many<Ring> bell = Sinks.many().multicast().directBestEffort();
    private final Flux<Ring> rings;
    private final List<Consumer<Committed>> listeners = new CopyOnWriteArrayList<>();
    /** The highest last number that was seen where others change the database. */
    private final AtomicLong highest = new AtomicLong();
    /** How often the database was away and is back. */
    private final AtomicInteger returns = new AtomicInteger();
    private final AtomicBoolean isAway = new AtomicBoolean();

    /** @param maxEvents the number of events to keep */
    public EventFeed(PlatformStore store, int maxEvents) {
        this(store, maxEvents, System::nanoTime);
    }

    EventFeed(PlatformStore store, int maxEvents, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
        this.table = new EventTable(store.engine(), PAGE);
        this.rings = isAlone() ? bell.asFlux() : bell.asFlux().mergeWith(looks()).share();
        store.beforeCommit((connection, change) -> {
            if (!change.events().isEmpty()) {
                table.add(connection, change.events(), maxEvents);
            }
        });
        store.afterCommit(change -> {
            if (!change.events().isEmpty()) {
                bell.tryEmitNext(Ring.COMMIT);
                change.events()
                        .stream()
                        .map(event -> new Committed(event.module(), event.account()))
                        .distinct()
                        .forEach(committed -> listeners.forEach(listener -> listener.accept(committed)));
            }
        });
    }

    /** The feed as one module sees it. */
    public Events of(String module) {
        return new OfModule(module);
    }

    private boolean isAlone() {
        return store.engine() == Database.Engine.SQLITE;
    }

    /** An event of this process. */
    private record Committed(String module, String account) {}

    /** Why a follower should look at the feed. */
    private sealed interface Ring {
        Ring COMMIT = new Commit();

        /** This process committed events. */
        record Commit() implements Ring {}

        /**
         * The last number of the feed.
         *
         * @param at when it was asked for, at the latest
         * @param returns how often the database was back by then
         */
        record Look(long last, long at, int returns) implements Ring {}
    }

    private Flux<Ring> looks() {
        return Flux.interval(POLL)
                .onBackpressureDrop()
                .concatMap(tick -> look().onErrorComplete(), 0)
                .cast(Ring.class);
    }

    private Mono<Ring.Look> look() {
        return Mono.defer(() -> {
            long at = nanos.getAsLong();
            return store.readFirst(table::last).map(last -> {
                if (isAway.compareAndSet(true, false)) {
                    returns.incrementAndGet();
                }
                long before = highest.getAndSet(last);
                if (last < before) {
                    log.atWarn()
                            .addKeyValue("from", before)
                            .addKeyValue("to", last)
                            .log("the change feed went back, as after a restore: nothing is cached from before");
                }
                return new Ring.Look(last, at, returns.get());
            });
        }).doOnError(StoreException.Away.class, failed -> isAway.set(true));
    }

    private Flux<Event> follow(Consumer<BooleanSupplier> begun) {
        return Mono.defer(() -> {
            long at = nanos.getAsLong();
            return store.read(table::last).map(start -> new Follower(begun, start, at, returns.get()));
        })
                .flatMapMany(follower -> {
                    follower.begin();
                    return rings.startWith(Ring.COMMIT)
                            .onBackpressureLatest()
                            .concatMap(ring -> patiently(follower.heard(ring)), 0);
                });
    }

    /** Reads on from the same position when a server was away. A file is away only when it was closed. */
    private Flux<Event> patiently(Flux<Event> events) {
        return isAlone()
                ? events
                : events.retryWhen(Retry.backoff(Long.MAX_VALUE, POLL)
                        .maxBackoff(LONGEST_PAUSE)
                        .filter(failed -> !store.isClosed()));
    }

    /** Reads on from its position. Its methods are called one after the other, but for {@link #isCurrent}. */
    private final class Follower {
        private final Consumer<BooleanSupplier> begun;
        private volatile long position;
        private volatile long currentAt;
        private volatile int seenReturns;

        Follower(Consumer<BooleanSupplier> begun, long position, long at, int seenReturns) {
            this.begun = begun;
            this.position = position;
            this.currentAt = at;
            this.seenReturns = seenReturns;
        }

        void begin() {
            begun.accept(this::isCurrent);
        }

        private boolean isCurrent() {
            return isAlone() || nanos.getAsLong() - currentAt < STALE.toNanos();
        }

        /** The events after its position, if there may be any. */
        Flux<Event> heard(Ring ring) {
            if (ring instanceof Ring.Look look) {
                if (look.returns() != seenReturns) {
                    seenReturns = look.returns();
                    begin(); // what happened meanwhile may have other numbers now
                } else if (look.last() == position) {
                    currentAt = look.at();
                    return Flux.empty();
                }
            }
            return Flux.defer(this::rest);
        }

        private Flux<Event> rest() {
            return Mono.defer(() -> {
                long at = nanos.getAsLong();
                return store.read(connection -> new Page(table.last(connection),
                        table.after(connection, position), at));
            })
                    .doOnNext(this::move)
                    .repeat()
                    .takeUntil(Page::isLast)
                    .concatMap(page -> Flux.fromIterable(page.events()).doOnComplete(() -> emitted(page)), 0);
        }

        private void move(Page page) {
            if (page.last() < position) {
                position = page.last();
                begin();
            } else if (!page.events().isEmpty()) {
                position = page.events().getLast().seq();
            }
        }

        private void emitted(Page page) {
            if (page.isLast()) {
                currentAt = page.at();
            }
        }
    }

    /** Events after a position, and the last number at that time. */
    private record Page(long last, List<Event> events, long at) {
        boolean isLast() {
            return events.size() < PAGE;
        }
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
        public Disposable onCommit(Consumer<String> listener) {
            Consumer<Committed> own = committed -> {
                if (committed.module().equals(module)) {
                    listener.accept(committed.account());
                }
            };
            listeners.add(own);
            return () -> listeners.remove(own);
        }

        @Override
        public Flux<Event> follow(Consumer<BooleanSupplier> begun) {
            return EventFeed.this.follow(begun);
        }
    }
}
