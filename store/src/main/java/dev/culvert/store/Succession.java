package dev.culvert.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Watches a database that this process has released, until its next holder serves. */
final class Succession {
    private static final Logger log = LoggerFactory.getLogger(Succession.class);
    /** The interval between two reads. */
    private static final Duration EVERY = Duration.ofMillis(100);

    private Succession() {}

    /**
     * A database that this process has released.
     *
     * @param fence the fencing number of this process's lease
     */
    record Released(Path file, long fence, Clock clock) {}

    /** How far the next holder is. */
    private enum Stage {
        /** There is none, it has ended, or it is of a version that does not note that it serves. */
        FREE, STARTING, SERVING
    }

    /**
     * Emits true when a later holder serves. Emits false when there is none for {@code patience}, and after
     * {@code most} at the latest, however often the holder changes. Only reads, on a thread of its own. A
     * failed read is skipped. Cancelling ends the reads.
     */
    static Mono<Boolean> watch(Released database, Duration patience, Duration most) {
        return Flux.using(() -> Schedulers.newSingle("culvert-succession", true),
                thread -> Flux.interval(Duration.ZERO, EVERY, thread)
                        .onBackpressureDrop()
                        .concatMap(tick -> look(database)),
                Scheduler::dispose)
                .distinctUntilChanged()
                .timeout(Mono.delay(patience),
                        stage -> Mono.delay(stage == Stage.STARTING ? most : patience))
                .filter(Stage.SERVING::equals)
                .next()
                .map(serving -> true)
                .onErrorReturn(TimeoutException.class, false)
                .timeout(most, Mono.just(false));
    }

    private static Mono<Stage> look(Released database) {
        return Mono.fromCallable(() -> read(database)).onErrorResume(SQLException.class, failed -> {
            log.atDebug().addKeyValue("reason", failed.getMessage()).log("the next holder could not be read");
            return Mono.empty();
        });
    }

    private static Stage read(Released database) throws SQLException {
        var config = new SQLiteConfig();
        config.setReadOnly(true);
        try (Connection connection = config
                .createConnection("jdbc:sqlite:" + database.file.toAbsolutePath())) {
            SqliteLease.Holder holder = SqliteLease.holder(connection);
            if (holder == null || holder.fence() <= database.fence
                    || holder.isFree(database.clock.instant())) {
                return Stage.FREE;
            }
            if (LeaseNotes.serving(connection) > database.fence) {
                return Stage.SERVING;
            }
            return LeaseNotes.starting(connection) > database.fence ? Stage.STARTING : Stage.FREE;
        }
    }
}
