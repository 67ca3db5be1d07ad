package dev.culvert.platform.directory.store;

import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * API keys, by their hashes, and the runtimes that hold some. Every method runs in the caller's transaction
 * and blocks.
 */
final class KeyTable {
    private static final String KEY = "SELECT id, account, \"user\", runtime, name, created, expires,"
            + " last_used FROM api_keys WHERE ";

    private static final long REACH_PAUSE_SECONDS = 60;

    private final DirectoryLimits limits;

    /** The URL of a runtime, and the time of its last change. */
    private record Reach(String url, long changed) {}

    KeyTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    static List<StoredKey> keys(Connection connection, String account) throws SQLException {
        return Rows.list(connection, KeyTable::key, KEY + "account = ? ORDER BY created, id",
                account);
    }

    /**
     * The stored key; null when it is unknown, revoked or expired.
     *
     * @param now seconds since 1970
     */
    static @Nullable KeyOwner holder(Connection connection, KeyText presented, long now) throws SQLException {
        StoredKey found = Rows.first(connection, KeyTable::key, KEY + "id = ?", presented.id());
        if (found == null || !presented.hasHash(hash(connection, found)) || found.isExpired(now)) {
            return null;
        }
        String user = found.user();
        return new KeyOwner(found, user == null ? null : PeopleTable.user(connection, found.account(), user));
    }

    /**
     * The user whose key this is; null when the key is unknown, revoked, expired or another one's, and when
     * the user is gone.
     *
     * @param now seconds since 1970
     */
    static @Nullable User userOf(Connection connection, RuntimeTokens.Claims said, long now)
            throws SQLException {
        StoredKey found = Rows.first(connection, KeyTable::key, KEY + "id = ? AND account = ?", said.key(),
                said.account());
        return found == null || !said.user().equals(found.user()) || found.isExpired(now)
                ? null
                : PeopleTable.user(connection, said.account(), said.user());
    }

    /**
     * The keys of operators that are valid now, of all accounts.
     *
     * @param now seconds since 1970
     */
    static List<StoredKey> operators(Connection connection, long now) throws SQLException {
        return Rows.list(connection, KeyTable::key,
                KEY + "(expires IS NULL OR expires > ?) AND EXISTS (SELECT 1 FROM users u"
                        + " WHERE u.id = api_keys.\"user\" AND u.operator <> 0)",
                now);
    }

    void add(Connection connection, IssuedKey issued) throws SQLException {
        StoredKey key = issued.key();
        PeopleTable.requireRoom(
                Rows.count(connection, "SELECT count(*) FROM api_keys WHERE account = ?", key.account()),
                limits.maxKeys(), "API keys");
        insert(connection, issued);
    }

    /** Stores a key, whatever the number of keys. */
    static void insert(Connection connection, IssuedKey issued) throws SQLException {
        StoredKey key = issued.key();
        Rows.update(connection,
                "INSERT INTO api_keys (id, account, \"user\", runtime, name, created, hash, expires)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                key.id(), key.account(), key.user(), key.runtime(),
                key.name(), key.created(), issued.text().hash(), key.expires());
    }

    /** Stores that a key was used. */
    static void used(Connection connection, String id, long now) throws SQLException {
        Rows.update(connection, "UPDATE api_keys SET last_used = ? WHERE id = ?", now, id);
    }

    /** Whether a runtime has a valid key. */
    static boolean hasRuntime(Connection connection, String account, String runtime, long now)
            throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM api_keys WHERE account = ? AND runtime = ?"
                + " AND (expires IS NULL OR expires > ?)", account, runtime, now) > 0;
    }

    /** Deletes a key. Returns it. */
    static StoredKey remove(Connection connection, String account, String id) throws SQLException {
        StoredKey found = Rows.first(connection, KeyTable::key, KEY + "account = ? AND id = ?", account, id);
        if (found == null) {
            throw new StoreException.Absent("there is no such API key");
        }
        Rows.update(connection, "DELETE FROM api_keys WHERE id = ?", id);
        // A runtime without a key can't update its URL any more.
        Rows.update(connection, "DELETE FROM runtimes WHERE account = ? AND name = ? AND NOT EXISTS"
                + " (SELECT 1 FROM api_keys WHERE account = ? AND runtime = ?)", account, found.runtime(),
                account, found.runtime());
        return found;
    }

    /** Deletes all keys of a runtime, and its URL. */
    static void removeRuntime(Connection connection, String account, String runtime) throws SQLException {
        Rows.update(connection, "DELETE FROM api_keys WHERE account = ? AND runtime = ?", account,
                runtime);
        Rows.update(connection, "DELETE FROM runtimes WHERE account = ? AND name = ?", account,
                runtime);
    }

    /**
     * Sets the URL of a runtime. Returns whether the URL is new. Throws {@link StoreException.Busy} when it
     * changed less than a minute ago: each change is a line of the audit log, which no runtime may flood.
     *
     * @param now seconds since 1970
     */
    static boolean reached(Connection connection, String account, String runtime, String url, long now)
            throws SQLException {
        Reach known = Rows.first(connection, row -> new Reach(row.getString(1), row.getLong(2)),
                "SELECT url, changed FROM runtimes WHERE account = ? AND name = ?", account, runtime);
        if (known != null && known.url().equals(url)) {
            return false;
        }
        if (known != null && known.changed() + REACH_PAUSE_SECONDS > now) {
            throw new StoreException.Busy("this runtime's URL changed less than a minute ago");
        }
        Rows.update(connection, "INSERT INTO runtimes (account, name, url, changed) VALUES (?, ?, ?, ?)"
                + " ON CONFLICT (account, name) DO UPDATE SET url = excluded.url, changed = excluded.changed",
                account, runtime, url, now);
        return true;
    }

    /** The URLs of an account's runtimes, by name. */
    static Map<String, String> urls(Connection connection, String account) throws SQLException {
        Map<String, String> urls = new TreeMap<>();
        Rows.list(connection, row -> urls.put(row.getString(1), row.getString(2)),
                "SELECT name, url FROM runtimes WHERE account = ?", account);
        return urls;
    }

    static @Nullable String url(Connection connection, String account, String runtime) throws SQLException {
        return Rows.first(connection, row -> row.getString(1),
                "SELECT url FROM runtimes WHERE account = ? AND name = ?", account, runtime);
    }

    private static byte[] hash(Connection connection, StoredKey key) throws SQLException {
        return Rows
                .list(connection, row -> row.getBytes(1), "SELECT hash FROM api_keys WHERE id = ?", key.id())
                .getFirst();
    }

    private static StoredKey key(ResultSet row) throws SQLException {
        return new StoredKey(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getString(5), row.getLong(6), number(row, 7), number(row, 8));
    }

    private static @Nullable Long number(ResultSet row, int column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }
}
