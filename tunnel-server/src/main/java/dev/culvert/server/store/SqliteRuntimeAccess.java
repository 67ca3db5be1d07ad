package dev.culvert.server.store;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.server.access.AccessFields;
import dev.culvert.server.access.AccessJson;
import dev.culvert.server.access.AccessRules;
import dev.culvert.store.SqliteDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table of the runtimes' access rules, as the JSON that the admin API takes, in the caller's transaction.
 */
final class SqliteRuntimeAccess {
    private static final Logger log = LoggerFactory.getLogger(SqliteRuntimeAccess.class);

    private SqliteRuntimeAccess() {}

    /**
     * Loads the rules by runtime id. A runtime whose rules can't be read, because a newer version wrote them,
     * is closed.
     */
    static Map<String, AccessRules> load(Connection connection) throws SQLException {
        Map<String, AccessRules> rules = new HashMap<>();
        try (var statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT runtime_id, rules FROM runtime_access")) {
            while (row.next()) {
                String id = row.getString("runtime_id");
                rules.put(id, read(id, row.getString("rules")));
            }
        }
        return rules;
    }

    private static AccessRules read(String id, String json) {
        try {
            AccessRules rules = AccessFields.read(json.getBytes(StandardCharsets.UTF_8));
            int unsecured = AccessFields.firstUnsecured(rules);
            if (unsecured >= 0) {
                log.atWarn()
                        .addKeyValue("runtimeId", id)
                        .addKeyValue("rule", unsecured)
                        .log("a forwardAuth service is called over plain http: a peer on its network can forge the verdict");
            }
            return rules;
        } catch (HandlerException e) {
            log.atError()
                    .addKeyValue("runtimeId", id)
                    .addKeyValue("reason", e.detail())
                    .log("access rules can't be read; all calls to the runtime are refused until new rules are set");
            return AccessRules.CLOSED;
        }
    }

    /** Replaces the rules of a runtime. */
    static void replace(Connection connection, String runtimeId, AccessRules rules) throws SQLException {
        SqliteDatabase.update(connection, "DELETE FROM runtime_access WHERE runtime_id = ?", runtimeId);
        if (!rules.isEmpty()) {
            SqliteDatabase.update(connection, "INSERT INTO runtime_access (runtime_id, rules) VALUES (?, ?)",
                    runtimeId, AccessJson.text(rules));
        }
    }
}
