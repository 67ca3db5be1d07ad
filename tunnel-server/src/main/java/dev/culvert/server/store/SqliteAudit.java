package dev.culvert.server.store;

import dev.culvert.store.SqliteDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/** The audit log in the server's database. */
final class SqliteAudit implements AuditStore {
    private final SqliteDatabase database;

    SqliteAudit(SqliteDatabase database) {
        this.database = database;
    }

    @Override
    public Mono<Void> add(AuditEntry entry) {
        return database.transact(connection -> {
            write(connection, entry);
            return entry;
        }, added -> added).then();
    }

    @Override
    public Mono<Page> page(long from, int limit) {
        return database.transact(connection -> read(connection, from == 0 ? Long.MAX_VALUE : from, limit),
                page -> page);
    }

    /** Adds an entry and deletes those beyond the limits, in the caller's transaction. */
    static void write(Connection connection, AuditEntry entry) throws SQLException {
        SqliteDatabase.update(connection,
                "INSERT INTO audit (at, who, remote, request_id, what, thing) VALUES (?, ?, ?, ?, ?, ?)",
                entry.time().toEpochMilli(), entry.user(), entry.address(), entry.requestId(), entry.action(),
                entry.object());
        SqliteDatabase.update(connection, "DELETE FROM audit WHERE seq <= (SELECT max(seq) FROM audit) - ?",
                MAX_ENTRIES);
        // Entries are ordered by time: this reads the expired ones and one more.
        SqliteDatabase.update(connection,
                "DELETE FROM audit WHERE seq < (SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1)",
                entry.time().minus(KEPT).toEpochMilli());
    }

    private static Page read(Connection connection, long before, int limit) throws SQLException {
        List<AuditEntry> entries = new ArrayList<>();
        long last = 0;
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT seq, at, who, remote, request_id, what,"
                        + " thing FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?")) {
            statement.setLong(1, before);
            statement.setInt(2, limit + 1);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (entries.size() == limit) {
                        return new Page(entries, last);
                    }
                    last = row.getLong("seq");
                    entries.add(new AuditEntry(Instant.ofEpochMilli(row.getLong("at")), row.getString("who"),
                            row.getString("remote"), row.getString("request_id"), row.getString("what"),
                            row.getString("thing")));
                }
            }
        }
        return new Page(entries, 0);
    }
}
