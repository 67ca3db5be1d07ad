package dev.culvert.platform.runtimes.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rows of runtimes. Every method runs in the caller's transaction and blocks. */
public final class RuntimeTable {
    private static final String COLUMNS = "account, name, cluster_uid, managed, access_mode, legacy_routes,"
            + " document, reported, store_key, created, server_state, server_detail, server_since";
    private static final String SELECT = "SELECT " + COLUMNS + " FROM runtimes_runtimes WHERE ";

    private RuntimeTable() {}

    /** The runtime of an account, or null. */
    public static @Nullable StoredRuntime find(Connection connection, String account, String name)
            throws SQLException {
        return Rows.first(connection, RuntimeTable::runtime, SELECT + "account = ? AND name = ?", account,
                name);
    }

    /** The name of the runtime on a cluster, or null. */
    public static @Nullable String onCluster(Connection connection, String account, String uid)
            throws SQLException {
        return Rows.first(connection, row -> row.getString(1),
                "SELECT name FROM runtimes_runtimes WHERE account = ? AND cluster_uid = ?", account, uid);
    }

    /** The name of the account's oldest runtime that is not hosted, or null. */
    public static @Nullable String oldestOwn(Connection connection, String account) throws SQLException {
        return Rows.first(connection, row -> row.getString(1), "SELECT name FROM runtimes_runtimes"
                + " WHERE account = ? AND managed = 0 ORDER BY created, name LIMIT 1", account);
    }

    /** The first runtimes of an account after a name, in the order of names. */
    public static List<StoredRuntime> page(Connection connection, String account, String after, int limit)
            throws SQLException {
        return Rows.list(connection, RuntimeTable::runtime,
                SELECT + "account = ? AND name > ? ORDER BY name LIMIT " + limit, account, after);
    }

    /**
     * The last runtimes of an account, in the order of names.
     *
     * @param before those before this name; empty: of all
     */
    public static List<StoredRuntime> pageBefore(Connection connection, String account, String before,
            int limit) throws SQLException {
        String end = " ORDER BY name DESC LIMIT " + limit;
        List<StoredRuntime> found = before.isEmpty()
                ? Rows.list(connection, RuntimeTable::runtime, SELECT + "account = ?" + end, account)
                : Rows.list(connection, RuntimeTable::runtime, SELECT + "account = ? AND name < ?" + end,
                        account, before);
        return found.reversed();
    }

    /** The first runtimes of all accounts after a name, in the order of accounts and names. */
    public static List<StoredRuntime> all(Connection connection, String account, String name, int limit)
            throws SQLException {
        return Rows.list(connection, RuntimeTable::runtime,
                SELECT + "(account, name) > (?, ?) ORDER BY account, name LIMIT " + limit, account, name);
    }

    /** The number of runtimes that the tunnel server has had, and has lost only if it lost its database. */
    public static long ready(Connection connection) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM runtimes_runtimes WHERE server_state = 'READY'");
    }

    /** Adds a runtime. */
    public static void add(Connection connection, StoredRuntime runtime, @Nullable Credential credential)
            throws SQLException {
        Rows.update(connection,
                "INSERT INTO runtimes_runtimes (" + COLUMNS + ", credential, credential_end)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                runtime.account(), runtime.name(), runtime.clusterUid(), runtime.managed() ? 1 : 0,
                runtime.accessMode(), runtime.legacyRoutes() ? 1 : 0, runtime.document(), runtime.reported(),
                runtime.storeKey(), runtime.created(), runtime.serverState().name(), runtime.serverDetail(),
                runtime.serverSince(), credential == null ? null : credential.text(),
                credential == null ? null : credential.expires());
    }

    /** Replaces the errors that a runtime reported. */
    public static void report(Connection connection, String account, String name, String reported)
            throws SQLException {
        Rows.update(connection,
                "UPDATE runtimes_runtimes SET reported = ? WHERE account = ? AND name = ?", reported, account,
                name);
    }

    /** Sets what the tunnel server knows of a runtime. */
    public static void server(Connection connection, String account, String name, ServerState state,
            @Nullable String detail, long now) throws SQLException {
        Rows.update(connection,
                "UPDATE runtimes_runtimes SET server_state = ?, server_detail = ?, server_since = ?"
                        + " WHERE account = ? AND name = ?",
                state.name(), detail, now, account, name);
    }

    /** The credential of a runtime; null when it has none, or it is forgotten. */
    public static @Nullable Credential credential(Connection connection, String account, String name)
            throws SQLException {
        return Rows.first(connection, row -> Credential.of(row.getString(1), row.getLong(2)),
                "SELECT credential, credential_end FROM runtimes_runtimes WHERE account = ? AND name = ?"
                        + " AND credential IS NOT NULL",
                account, name);
    }

    /** The first runtimes after a name that the tunnel server has and that have a credential. */
    public static List<StoredRuntime> enrolling(Connection connection, String account, String name, int limit)
            throws SQLException {
        return Rows.list(connection, RuntimeTable::runtime,
                SELECT + "(account, name) > (?, ?) AND server_state = 'READY' AND credential_end IS NOT NULL"
                        + " ORDER BY account, name LIMIT " + limit,
                account, name);
    }

    /** Forgets the credential of a runtime. */
    public static void forgetCredential(Connection connection, String account, String name)
            throws SQLException {
        Rows.update(connection, "UPDATE runtimes_runtimes SET credential = NULL, credential_end = NULL"
                + " WHERE account = ? AND name = ?", account, name);
    }

    /** Whether there are credentials that expired before a time. */
    public static boolean hasCredentialsBefore(Connection connection, long now) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM runtimes_runtimes WHERE credential_end < ?",
                now) > 0;
    }

    /** Forgets the credentials that expired before a time. */
    public static void forgetCredentials(Connection connection, long now) throws SQLException {
        Rows.update(connection,
                "UPDATE runtimes_runtimes SET credential = NULL, credential_end = NULL"
                        + " WHERE credential_end < ?",
                now);
    }

    /**
     * The secrets of a runtime.
     *
     * @param storeKey as stored
     * @param credential as stored; null: it has none
     */
    record StoredSecrets(String account, String name, String storeKey, @Nullable Credential credential) {
        /** Without the key. */
        @Override
        public String toString() {
            return account + "/" + name;
        }
    }

    /** The first secrets after a name that do not begin with a prefix. */
    static List<StoredSecrets> secrets(Connection connection, String account, String name, String prefix,
            int limit) throws SQLException {
        return Rows.list(connection, row -> {
            String credential = row.getString(4);
            return new StoredSecrets(row.getString(1), row.getString(2), row.getString(3),
                    credential == null ? null : Credential.of(credential, row.getLong(5)));
        }, "SELECT account, name, store_key, credential, credential_end FROM runtimes_runtimes"
                + " WHERE (account, name) > (?, ?) AND (store_key NOT LIKE ? OR credential NOT LIKE ?)"
                + " ORDER BY account, name LIMIT " + limit,
                account, name, prefix + "%", "% " + prefix + "%");
    }

    /** Replaces secrets, unless they have changed. */
    static void rewrap(Connection connection, StoredSecrets before, StoredSecrets after) throws SQLException {
        Rows.update(connection, "UPDATE runtimes_runtimes SET store_key = ?"
                + " WHERE account = ? AND name = ? AND store_key = ?",
                after.storeKey(), before.account(), before.name(), before.storeKey());
        if (before.credential() != null && after.credential() != null) {
            Rows.update(connection, "UPDATE runtimes_runtimes SET credential = ?"
                    + " WHERE account = ? AND name = ? AND credential = ?",
                    after.credential().text(), before.account(), before.name(), before.credential().text());
        }
    }

    /** Deletes a runtime. */
    public static void remove(Connection connection, String account, String name) throws SQLException {
        Rows.update(connection, "DELETE FROM runtimes_runtimes WHERE account = ? AND name = ?",
                account, name);
    }

    private static StoredRuntime runtime(ResultSet row) throws SQLException {
        return new StoredRuntime(row.getString(1), row.getString(2), row.getString(3), row.getInt(4) != 0,
                row.getString(5), row.getInt(6) != 0, row.getString(7), row.getString(8), row.getString(9),
                row.getLong(10), ServerState.valueOf(row.getString(11)), row.getString(12),
                row.getLong(13));
    }
}
