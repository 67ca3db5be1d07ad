package dev.culvert.platform.directory;

import dev.culvert.edge.sqlite.SqliteDatabase;
import dev.culvert.edge.sqlite.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** API keys, by their hashes, and the runtimes that hold some. Every method runs in the caller's transaction and blocks. */
final class KeyTable {
    private static final String KEY = "SELECT id, account, user, runtime, name, created FROM api_keys WHERE ";

    private final DirectoryLimits limits;

    KeyTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    static List<StoredKey> keys(Connection connection, String account) throws SQLException {
        return Rows.list(connection, KeyTable::key, KEY + "account = ? ORDER BY created, id",
                account);
    }

    /** Null when no such key was issued, or it was revoked. */
    static @Nullable Holder holder(Connection connection, KeyText presented) throws SQLException {
        StoredKey found = Rows.first(connection, KeyTable::key, KEY + "id = ?", presented.id());
        if (found == null || !presented.hasHash(hash(connection, found))) {
            return null;
        }
        String user = found.user();
        return new Holder(found, user == null ? null : PeopleTable.user(connection, found.account(), user));
    }

    void add(Connection connection, IssuedKey issued) throws SQLException {
        StoredKey key = issued.key();
        PeopleTable.requireRoom(
                Rows.count(connection, "SELECT count(*) FROM api_keys WHERE account = ?", key.account()),
                limits.maxKeys(), "API keys");
        SqliteDatabase.update(connection, "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?)", key.id(),
                key.account(),
                key.user(), key.runtime(), key.name(), key.created(), issued.text().hash());
    }

    /** The key that is gone. */
    static StoredKey remove(Connection connection, String account, String id) throws SQLException {
        StoredKey found = Rows.first(connection, KeyTable::key, KEY + "account = ? AND id = ?", account, id);
        if (found == null) {
            throw new StoreException.Absent("there is no such API key");
        }
        SqliteDatabase.update(connection, "DELETE FROM api_keys WHERE id = ?", id);
        return found;
    }

    static void reached(Connection connection, String account, String runtime, String url)
            throws SQLException {
        SqliteDatabase.update(connection, "INSERT OR REPLACE INTO runtimes VALUES (?, ?, ?)", account,
                runtime, url);
    }

    /** Where the runtimes of an account are, by their names. */
    static Map<String, String> urls(Connection connection, String account) throws SQLException {
        Map<String, String> urls = new TreeMap<>();
        Rows.list(connection, row -> urls.put(row.getString(1), row.getString(2)),
                "SELECT name, url FROM runtimes WHERE account = ?", account);
        return urls;
    }

    private static byte[] hash(Connection connection, StoredKey key) throws SQLException {
        return Rows
                .list(connection, row -> row.getBytes(1), "SELECT hash FROM api_keys WHERE id = ?", key.id())
                .getFirst();
    }

    private static StoredKey key(ResultSet row) throws SQLException {
        return new StoredKey(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getString(5), row.getLong(6));
    }
}
