package dev.culvert.server.store;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.store.SqliteDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** The table of the runtimes' own limits, in the caller's transaction. */
final class SqliteRuntimeLimits {
    private SqliteRuntimeLimits() {}

    /** Loads the limits by runtime id. Limits of newer versions are ignored, and kept. */
    static Map<String, OwnLimits> load(Connection connection) throws SQLException {
        Map<String, Map<RuntimeLimit, Long>> values = new HashMap<>();
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT runtime_id, key, value FROM runtime_limits")) {
            while (row.next()) {
                RuntimeLimit limit = RuntimeLimit.of(row.getString("key"));
                if (limit != null) {
                    values.computeIfAbsent(row.getString("runtime_id"),
                            id -> new EnumMap<>(RuntimeLimit.class)).put(limit, row.getLong("value"));
                }
            }
        }
        Map<String, OwnLimits> limits = new HashMap<>();
        values.forEach((id, own) -> limits.put(id, new OwnLimits(own)));
        return limits;
    }

    /** Replaces the own limits of a runtime. */
    static void replace(Connection connection, String runtimeId, OwnLimits limits) throws SQLException {
        SqliteDatabase.update(connection, "DELETE FROM runtime_limits WHERE runtime_id = ?", runtimeId);
        for (Map.Entry<RuntimeLimit, Long> own : limits.values().entrySet()) {
            SqliteDatabase.update(connection,
                    "INSERT INTO runtime_limits (runtime_id, key, value) VALUES (?, ?, ?)", runtimeId,
                    own.getKey().key(), own.getValue());
        }
    }
}
