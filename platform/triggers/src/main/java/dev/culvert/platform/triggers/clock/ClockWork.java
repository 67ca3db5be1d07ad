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
        return store.read(connection -> ClockTable.due(connection, store.now(connection, clock), AT_ONCE))
                .flatMapMany(Flux::fromIterable)
                .concatMap(tick -> store.change(tick.account(), connection -> {
                    turn.require(connection);
                    return take(connection, tick);
                })
                        .onErrorResume(ClockWork::isFull,
                                full -> skip(tick, turn, String.valueOf(full.getMessage()))))
                .then();
    }

    /** Whether an account has too much of something, which must not hold up the others. */
    private static boolean isFull(Throwable failed) {
        return failed instanceof StoreException.Full || failed instanceof DeliveryTable.TooMany;
    }

    private Mono<Boolean> skip(Tick tick, Turns.Turn turn, String why) {
        return store.change(tick.account(), connection -> {
            turn.require(connection);
            Instant next = CronExpression.parse(Parts.of(tick.event()).expression())
                    .next(Instant.ofEpochMilli(store.now(connection, clock)))
                    .orElse(NEVER);
            RefusalTable.add(connection, tick.account(), tick.event(), "tick", why,
                    store.now(connection, clock));
            return ClockTable.move(connection, tick, next.toEpochMilli());
        });
    }

    private boolean take(Connection change, Tick tick) throws SQLException {
        Parts parts = Parts.of(tick.event());
        CronExpression expression = CronExpression.parse(parts.expression());
        Instant now = Instant.ofEpochMilli(store.now(change, clock));
        Instant due = Instant.ofEpochMilli(tick.due());
        Missed missed = Missed.of(expression, due, now);
        if (!ClockTable.move(change, tick, missed.next.toEpochMilli())) {
            return false;
        }
        if (missed.skipped > 0) {
            hermes.taken(change, tick.account(), happening(tick, parts, due, missed.whyNot(due)));
        }
        Instant last = missed.last;
        if (last != null) {
            hermes.taken(change, tick.account(), happening(tick, parts, last, null));
        }
        return true;
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
     * @param skipped the number of ticks that are not
     * @param next the first time that is not due
     */
    record Missed(@Nullable Instant last, int skipped, Instant next) {
        private static final int MAX_COUNTED = 10_000;

        static Missed of(CronExpression expression, Instant due, Instant now) {
            Instant from = now.minus(MADE_UP);
            Instant last = due.isBefore(from) ? null : due;
            int skipped = last == null ? 1 : 0;
            Instant here = due;
            for (int i = 0; i < MAX_COUNTED; i++) {
                Optional<Instant> next = expression.next(here);
                if (next.isEmpty() || next.get().isAfter(now)) {
                    return new Missed(last, skipped, next.orElse(NEVER));
                }
                here = next.get();
                if (here.isBefore(from)) {
                    skipped++;
                } else {
                    skipped += last == null ? 0 : 1;
                    last = here;
                }
            }
            // Down for long: the rest is not counted one by one.
            return new Missed(null, skipped, expression.next(now).orElse(NEVER));
        }

        String whyNot(Instant first) {
            return skipped + " ticks since " + first
                    + " were skipped: the platform was away (one that is missed"
                    + " by less than " + MADE_UP.toMinutes() + " minutes is made up once)";
        }
    }
}
