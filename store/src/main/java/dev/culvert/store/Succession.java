package dev.culvert.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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

    /** How far the next holder is. */
    private enum Stage {
        RELEASED, TAKEN, SERVING
    }

    /**
     * Emits true when a holder after the one with this fencing number serves; false when none takes the lease
     * within {@code patience}, or when one has taken it and does not serve within {@code patience}. Only
     * reads, on a thread of its own. A failed read is skipped. Cancelling ends the reads.
     */
    static Mono<Boolean> watch(Path file, long fence, Duration patience) {
        return Flux.using(() -> Schedulers.newSingle("culvert-succession", true),
                thread -> Flux.interval(Duration.ZERO, EVERY, thread)
                        .onBackpressureDrop()
                        .concatMap(tick -> look(file, fence)),
                Scheduler::dispose)
                .distinctUntilChanged()
                .timeout(patience)
                .filter(Stage.SERVING::equals)
                .next()
                .map(serving -> true)
                .onErrorReturn(TimeoutException.class, false);
    }

    private static Mono<Stage> look(Path file, long fence) {
        return Mono.fromCallable(() -> read(file, fence)).onErrorResume(SQLException.class, failed -> {
            log.atDebug().addKeyValue("reason", failed.getMessage()).log("the next holder could not be read");
            return Mono.empty();
        });
    }

    private static Stage read(Path file, long fence) throws SQLException {
        var config = new SQLiteConfig();
        config.setReadOnly(true);
        try (Connection connection = config.createConnection("jdbc:sqlite:" + file.toAbsolutePath())) {
            if (LeaseNotes.serving(connection) > fence) {
                return Stage.SERVING;
            }
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT fence FROM lease")) {
                return row.next() && row.getLong(1) > fence ? Stage.TAKEN : Stage.RELEASED;
            }
        }
    }
}
