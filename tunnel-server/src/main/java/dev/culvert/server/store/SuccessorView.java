package dev.culvert.server.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Watches the runtimes in the database after this server has released it to the next holder and still drains.
 */
final class SuccessorView {
    /** The interval between two reads: a revoked runtime is disconnected within a second. */
    private static final Duration EVERY = Duration.ofMillis(400);
    private static final Logger log = LoggerFactory.getLogger(SuccessorView.class);

    private SuccessorView() {}

    /**
     * Emits the identity of each runtime, by runtime id, at once and after each read. Only reads, on a thread
     * of its own, and waits for no lock. A failed read is logged and skipped. Never completes; cancel it.
     */
    static Flux<Map<String, String>> identities(Path file) {
        return Flux.using(() -> Schedulers.newSingle("culvert-successor", true),
                thread -> Flux.interval(Duration.ZERO, EVERY, thread)
                        .onBackpressureDrop()
                        .concatMap(tick -> look(file)),
                Scheduler::dispose);
    }

    private static Mono<Map<String, String>> look(Path file) {
        return Mono.fromCallable(() -> read(file)).onErrorResume(SQLException.class, failed -> {
            log.atWarn()
                    .addKeyValue("reason", failed.getMessage())
                    .log("the next server's runtimes could not be read: one that it revokes now stays connected here"
                            + " until this server has drained");
            return Mono.empty();
        });
    }

    /** Reads two columns that every version of the schema has had. */
    private static Map<String, String> read(Path file) throws SQLException {
        var config = new SQLiteConfig();
        config.setReadOnly(true);
        Map<String, String> identities = new HashMap<>();
        try (Connection connection = config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id, identity FROM runtimes")) {
            while (row.next()) {
                identities.put(row.getString(1), row.getString(2));
            }
        }
        return identities;
    }
}
