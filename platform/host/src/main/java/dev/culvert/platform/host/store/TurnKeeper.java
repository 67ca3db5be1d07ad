package dev.culvert.platform.host.store;

import dev.culvert.config.Reason;
import dev.culvert.platform.host.spi.Turns;
import dev.culvert.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Claims turns in the database and runs the modules' work while this process has them. */
public final class TurnKeeper {
    private static final Duration LIFE = Duration.ofSeconds(15);
    private static final Duration RENEWAL = Duration.ofSeconds(5);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);
    private static final Logger log = LoggerFactory.getLogger(TurnKeeper.class);

    private final PlatformStore store;
    private final String holder;
    private final Duration life;
    private final LongSupplier nanos;
    private final Set<Held> held = ConcurrentHashMap.newKeySet();

    /** @param holder names this process for people */
    public TurnKeeper(PlatformStore store, String holder) {
        this(store, holder, LIFE, System::nanoTime);
    }

    TurnKeeper(PlatformStore store, String holder, Duration life, LongSupplier nanos) {
        this.store = store;
        this.holder = holder;
        this.life = life;
        this.nanos = nanos;
    }

    /** The turns of one module. */
    public Turns of(String module) {
        return (name, period, work) -> repeat(module + " " + name, period, work);
    }

    /** Gives away the turns that nobody has disposed of. Completes when that is stored, or after 5 s. */
    public Mono<Void> stop() {
        return Flux.fromIterable(held)
                .flatMap(this::release)
                .then()
                .timeout(STOP_PATIENCE)
                .onErrorComplete();
    }

    private Disposable repeat(String name, Duration period, Turns.Work work) {
        if (store.engine() == Database.Engine.SQLITE) {
            Turns.Turn always = change -> {};
            return Flux.interval(Duration.ZERO, period)
                    .onBackpressureDrop()
                    .concatMap(tick -> once(name, work, always), 0)
                    .subscribe();
        }
        Duration renewal = life.dividedBy(3).compareTo(RENEWAL) < 0 ? life.dividedBy(3) : RENEWAL;
        // Whoever waits looks as often as the holder works, but not more than once in a second.
        return Flux.interval(Duration.ZERO, period)
                .onBackpressureDrop()
                .concatMap(tick -> claimed(name), 0)
                .concatMap(claim -> Flux.interval(Duration.ZERO, period)
                        .onBackpressureDrop()
                        .concatMap(tick -> once(name, work, claim), 0)
                        .takeUntilOther(claim.kept(renewal)), 0)
                .subscribe();
    }

    private static Mono<Void> once(String name, Turns.Work work, Turns.Turn turn) {
        return Mono.defer(() -> work.run(turn))
                .onErrorResume(Turns.Lost.class, lost -> Mono.empty())
                .onErrorResume(failed -> {
                    log.atWarn()
                            .addKeyValue("turn", name)
                            .addKeyValue("reason", Reason.of(failed))
                            .log("background work failed: it is done again");
                    return Mono.empty();
                });
    }

    /** Empty if another process has the turn, or the database can't tell. */
    private Mono<Held> claimed(String name) {
        return Mono.defer(() -> {
            long at = nanos.getAsLong();
            return store.changeRows(connection -> {
                Long number = TurnTable.claim(connection, name, holder, life);
                return number == null ? 0L : number;
            }).filter(number -> number > 0).map(number -> {
                var claim = new Held(name, number, at + life.toNanos());
                held.add(claim);
                return claim;
            });
        }).onErrorComplete();
    }

    private Mono<Void> release(Held claim) {
        return held.remove(claim)
                ? store.changeRows(connection -> {
                    TurnTable.release(connection, claim.name, claim.number);
                    return true;
                }).onErrorComplete().then()
                : Mono.empty();
    }

    /** A turn that this process has. */
    private final class Held implements Turns.Turn {
        private final String name;
        private final long number;
        private volatile long until;

        Held(String name, long number, long until) {
            this.name = name;
            this.number = number;
            this.until = until;
        }

        @Override
        public void require(Connection change) throws SQLException {
            if (!TurnTable.isHeld(change, name, number)) {
                throw new Turns.Lost(name);
            }
        }

        /** Renews the claim; emits when it is lost. Cancelling gives the turn away. */
        Mono<Boolean> kept(Duration renewal) {
            return Flux.interval(renewal)
                    .onBackpressureDrop()
                    .concatMap(tick -> renewed(), 0)
                    .filter(isKept -> !isKept)
                    .next()
                    .doOnNext(lost -> held.remove(this))
                    .doOnCancel(() -> release(this).subscribe());
        }

        private Mono<Boolean> renewed() {
            return Mono.defer(() -> {
                long at = nanos.getAsLong();
                return store
                        .changeRows(connection -> TurnTable.renew(connection, name, number, life))
                        .doOnNext(isKept -> {
                            if (isKept) {
                                until = at + life.toNanos();
                            }
                        });
            }).onErrorResume(failed -> Mono.just(until - nanos.getAsLong() > 0)); // it lasts while it may
        }

        @Override
        public String toString() {
            return name + " " + number;
        }
    }
}
