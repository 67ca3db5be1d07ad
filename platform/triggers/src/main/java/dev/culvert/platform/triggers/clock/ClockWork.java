package dev.culvert.platform.triggers.clock;

import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.Turns;
import dev.culvert.platform.triggers.clock.ClockKind.Parts;
import dev.culvert.platform.triggers.hermes.Happening;
import dev.culvert.platform.triggers.hermes.Hermes;
import dev.culvert.platform.triggers.hermes.Variables;
import dev.culvert.platform.triggers.store.ClockTable;
import dev.culvert.platform.triggers.store.ClockTable.Tick;
import dev.culvert.platform.triggers.store.DeliveryTable;
import dev.culvert.platform.triggers.store.RefusalTable;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Takes the ticks that are due, in one process at a time. A tick and its runs are one transaction. Of ticks
 * that were missed, the last one of the last hour is made up; others are kept as refused.
 */
public final class ClockWork {
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration MADE_UP = Duration.ofHours(1);
    private static final int AT_ONCE = 100;
    /** What is due in no process's time. */
    private static final Instant NEVER = Instant.ofEpochMilli(Long.MAX_VALUE);

    private final Store store;
    private final Turns turns;
    private final Hermes hermes;
    private final Clock clock;
    private final Disposable.Swap running = Disposables.swap();

    public ClockWork(Store store, Turns turns, Hermes hermes, Clock clock) {
        this.store = store;
        this.turns = turns;
        this.hermes = hermes;
        this.clock = clock;
    }

    public void start() {
        running.update(turns.repeat("clock", PERIOD, this::run));
    }

    public void stop() {
        running.dispose();
    }

    /** Takes all ticks that are due. */
    Mono<Void> run(Turns.Turn turn) {
        return store.read(connection -> {
            long now = store.now(connection, clock);
            return ClockTable.due(connection, now, AT_ONCE)
                    .stream()
                    .map(tick -> new Due(tick, Instant.ofEpochMilli(now)))
                    .toList();
        })
                .publishOn(Schedulers.boundedElastic())
                .flatMapMany(Flux::fromIterable)
                .concatMap(due -> take(due.tick, turn, Missed.of(due.tick, due.now)))
                .then();
    }

    /** A tick that is due. */
    private record Due(Tick tick, Instant now) {}

    private Mono<Boolean> take(Tick tick, Turns.Turn turn, Missed missed) {
        return store.change(tick.account(), connection -> {
            turn.require(connection);
            return take(connection, tick, missed);
        })
                .onErrorResume(ClockWork::isFull,
                        full -> skip(tick, turn, missed, String.valueOf(full.getMessage())))
                .publishOn(Schedulers.boundedElastic());
    }

    /** Whether an account has too much of something, which must not hold up the others. */
    private static boolean isFull(Throwable failed) {
        return failed instanceof StoreException.Full || failed instanceof DeliveryTable.TooMany;
    }

    private Mono<Boolean> skip(Tick tick, Turns.Turn turn, Missed missed, String why) {
        return store.change(tick.account(), connection -> {
            turn.require(connection);
            RefusalTable.add(connection, tick.account(), tick.event(), "tick", why,
                    store.now(connection, clock));
            return ClockTable.move(connection, tick, missed.next.toEpochMilli());
        });
    }

    private boolean take(Connection change, Tick tick, Missed missed) throws SQLException {
        if (!ClockTable.move(change, tick, missed.next.toEpochMilli())) {
            return false;
        }
        Parts parts = Parts.of(tick.event());
        Instant due = Instant.ofEpochMilli(tick.due());
        if (missed.skipped) {
            hermes.taken(change, tick.account(), happening(tick, parts, due, whyNot(due)));
        }
        Instant last = missed.last;
        if (last != null) {
            hermes.taken(change, tick.account(), happening(tick, parts, last, null));
        }
        return true;
    }

    private static String whyNot(Instant first) {
        return "ticks since " + first
                + " were skipped: the platform was away (one that is missed by less than "
                + MADE_UP.toMinutes() + " minutes is made up, once)";
    }

    private static Happening happening(Tick tick, Parts parts, Instant due, @Nullable String whyNot) {
        Map<String, String> fields = new TreeMap<>(Map.of("message", parts.message(), "description",
                parts.expression(), "timestamp", due.toString(), "event", "tick", "type", "cron", "provider",
                "codefresh"));
        return new Happening(tick.event(), (whyNot == null ? "tick " : "skipped ") + due, fields,
                Variables.of(fields, null), whyNot);
    }

    /**
     * What is due since a tick.
     *
     * @param last what is taken; null: nothing, all is too late
     * @param skipped whether there are others
     * @param next the first time that is not due
     */
    record Missed(@Nullable Instant last, boolean skipped, Instant next) {
        static Missed of(Tick tick, Instant now) {
            return of(CronExpression.parse(Parts.of(tick.event()).expression()),
                    Instant.ofEpochMilli(tick.due()), now);
        }

        /** Goes through the last hour, which has at most 60 ticks. */
        static Missed of(CronExpression expression, Instant due, Instant now) {
            Instant from = now.minus(MADE_UP);
            boolean isOld = due.isBefore(from);
            Instant last = isOld ? null : due;
            boolean skipped = isOld;
            Optional<Instant> next = expression.next(isOld ? from.minusMillis(1) : due);
            while (next.isPresent() && !next.get().isAfter(now)) {
                skipped |= last != null;
                last = next.get();
                next = expression.next(last);
            }
            return new Missed(last, skipped, next.orElse(NEVER));
        }
    }
}
