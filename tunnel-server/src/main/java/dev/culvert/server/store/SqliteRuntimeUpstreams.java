package dev.culvert.server.store;

import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.store.SqliteDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** The table of the hosted runtimes' upstreams, in the caller's transaction. */
final class SqliteRuntimeUpstreams {
    private SqliteRuntimeUpstreams() {}

    /** Loads the upstreams by runtime id. */
    static Map<String, RuntimeUpstream> load(Connection connection) throws SQLException {
        Map<String, RuntimeUpstream> upstreams = new HashMap<>();
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT runtime_id, url, ca FROM runtime_upstreams")) {
            while (row.next()) {
                upstreams.put(row.getString("runtime_id"),
                        RuntimeUpstream.of(row.getString("url"), row.getString("ca")));
            }
        }
        return upstreams;
    }

    /** Replaces the upstream of a runtime. */
    static void replace(Connection connection, String runtimeId, RuntimeUpstream upstream)
            throws SQLException {
        SqliteDatabase.update(connection,
                "INSERT OR REPLACE INTO runtime_upstreams (runtime_id, url, ca) VALUES (?, ?, ?)", runtimeId,
                upstream.url().toString(), upstream.ca());
    }
}
