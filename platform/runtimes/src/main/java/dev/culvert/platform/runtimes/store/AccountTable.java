package dev.culvert.platform.runtimes.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What accounts have, and the deleted runtimes that the tunnel server may still have. Every method runs in
 * the caller's transaction and blocks.
 */
public final class AccountTable {
    private AccountTable() {}

    /** What an account has. */
    public static RuntimeAccount of(Connection connection, String account) throws SQLException {
        RuntimeAccount found = Rows.first(connection,
                row -> new RuntimeAccount(row.getLong(1), row.getString(2), row.getString(3),
                        row.getInt(4) != 0),
                "SELECT runtimes, hosted, configuration, designated FROM runtimes_accounts WHERE account = ?",
                account);
        return found == null ? RuntimeAccount.EMPTY : found;
    }

    /** Stores what an account has. */
    public static void put(Connection connection, String account, RuntimeAccount has) throws SQLException {
        Rows.update(connection,
                "INSERT INTO runtimes_accounts (account, runtimes, hosted, configuration, designated)"
                        + " VALUES (?, ?, ?, ?, ?) ON CONFLICT (account) DO UPDATE SET"
                        + " runtimes = excluded.runtimes, hosted = excluded.hosted,"
                        + " configuration = excluded.configuration, designated = excluded.designated",
                account, has.runtimes(), has.hosted(), has.configuration(), has.designated() ? 1 : 0);
    }

    /** Makes another runtime the configuration runtime; null: there is none. */
    public static void pass(Connection connection, String account, @Nullable String configuration)
            throws SQLException {
        Rows.update(connection, "UPDATE runtimes_accounts SET configuration = ? WHERE account = ?",
                configuration, account);
    }

    /** Deletes what an account has. */
    public static void remove(Connection connection, String account) throws SQLException {
        Rows.update(connection, "DELETE FROM runtimes_runtimes WHERE account = ?", account);
        Rows.update(connection, "DELETE FROM runtimes_accounts WHERE account = ?", account);
        SettingsTable.remove(connection, account);
    }

    /** The deleted runtime with a name, or null. */
    public static @Nullable EndedRuntime ended(Connection connection, String account, String name)
            throws SQLException {
        return Rows.first(connection,
                row -> new EndedRuntime(account, name, row.getLong(1), row.getString(2), row.getInt(3) != 0),
                "SELECT since, refusal, forced FROM runtimes_ended WHERE account = ? AND name = ?", account,
                name);
    }

    /** The first deleted runtimes after a name. */
    public static List<EndedRuntime> ended(Connection connection, String account, String name, int limit)
            throws SQLException {
        return Rows.list(connection,
                row -> new EndedRuntime(row.getString(1), row.getString(2), row.getLong(3), row.getString(4),
                        row.getInt(5) != 0),
                "SELECT account, name, since, refusal, forced FROM runtimes_ended WHERE (account, name) > (?, ?)"
                        + " ORDER BY account, name LIMIT " + limit,
                account, name);
    }

    /** Adds or replaces a deleted runtime. */
    public static void end(Connection connection, EndedRuntime ended) throws SQLException {
        Rows.update(connection,
                "INSERT INTO runtimes_ended (account, name, since, refusal, forced) VALUES (?, ?, ?, ?, ?)"
                        + " ON CONFLICT (account, name) DO UPDATE SET since = excluded.since,"
                        + " refusal = excluded.refusal, forced = excluded.forced",
                ended.account(), ended.name(), ended.since(), ended.refusal(), ended.force() ? 1 : 0);
    }

    /** The first deleted runtimes of an account after a name. */
    public static List<EndedRuntime> endedOf(Connection connection, String account, String name, int limit)
            throws SQLException {
        return Rows.list(connection,
                row -> new EndedRuntime(account, row.getString(1), row.getLong(2), row.getString(3),
                        row.getInt(4) != 0),
                "SELECT name, since, refusal, forced FROM runtimes_ended WHERE account = ? AND name > ?"
                        + " ORDER BY name LIMIT " + limit,
                account, name);
    }

    /** Stores why the tunnel server keeps a deleted runtime. */
    public static void refuse(Connection connection, String account, String name, String refusal)
            throws SQLException {
        Rows.update(connection,
                "UPDATE runtimes_ended SET refusal = ? WHERE account = ? AND name = ?", refusal, account,
                name);
    }

    /** Forgets a deleted runtime. */
    public static void forgetEnded(Connection connection, String account, String name) throws SQLException {
        Rows.update(connection, "DELETE FROM runtimes_ended WHERE account = ? AND name = ?",
                account,
                name);
    }
}
