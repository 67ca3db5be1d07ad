package dev.culvert.server.store;

import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.ContextView;
import reactor.util.retry.Retry;

/**
 * Stores revocations that are effective in memory but not on the disk yet. Each is tried again, whatever
 * changes the runtime has meanwhile, until it is stored or the store closes.
 */
final class LateRevocations {
    private static final Logger log = LoggerFactory.getLogger(LateRevocations.class);
    /** The interval between two attempts. */
    private static final Duration STORE_AGAIN = Duration.ofSeconds(1);

    private final SqliteDatabase database;
    private final RuntimeTable table;
    private final Sinks.Empty<Void> closed = Sinks.empty();

    LateRevocations(SqliteDatabase database, RuntimeTable table) {
        this.database = database;
        this.table = table;
    }

    /**
     * Stores a revocation as soon as possible. Tries again when the database fails, and when its queue is
     * full.
     *
     * @param revoked the runtime with its new identity, as in memory
     * @param context the Reactor context of the change, with the audit entry that is written with it
     */
    void add(RegisteredRuntime revoked, ContextView context) {
        database.transact(connection -> {
            RegisteredRuntime now = table.byId(revoked.id());
            if (now != null && now.identity().equals(revoked.identity())) {
                write(connection, now);
            }
            return revoked; // else it was deleted, or revoked again
        }, stored -> stored)
                .delaySubscription(STORE_AGAIN)
                .retryWhen(Retry.indefinitely().filter(LateRevocations::passes))
                .contextWrite(context)
                .takeUntilOther(closed.asMono())
                .subscribe(
                        stored -> log.atInfo().addKeyValue("runtime", stored.name()).log("revocation stored"),
                        failed -> log.atError()
                                .addKeyValue("runtime", revoked.name())
                                .addKeyValue("reason", failed.getMessage())
                                .log("revocation could not be stored: revoke again"));
    }

    private static boolean passes(Throwable failed) {
        return failed instanceof StoreException.Failed || failed instanceof StoreException.Busy;
    }

    /**
     * Writes the revoked runtime as it is in memory. Tokens made since the revocation stay valid. On the
     * database's thread.
     */
    void write(Connection connection, RegisteredRuntime revoked) throws SQLException {
        @Nullable
        Instant connected = revoked.connected();
        SqliteDatabase.update(connection, "UPDATE runtimes SET identity = ?, connected = ? WHERE id = ?",
                revoked.identity(), connected == null ? null : connected.toEpochMilli(), revoked.id());
        for (String token : tokens(connection, revoked.id())) {
            if (table.token(token) == null) {
                SqliteDatabase.update(connection, "DELETE FROM tokens WHERE id = ?", token);
            }
        }
    }

    private static List<String> tokens(Connection connection, String runtimeId) throws SQLException {
        List<String> ids = new ArrayList<>();
        try (var statement = connection.prepareStatement("SELECT id FROM tokens WHERE runtime_id = ?")) {
            statement.setString(1, runtimeId);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    ids.add(row.getString("id"));
                }
            }
        }
        return ids;
    }

    /** Drops the pending revocations, because the store closes. */
    void close() {
        closed.tryEmitEmpty();
    }
}
