package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.wrapping.KeyWrapping.Wrapped;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keys of runtime tokens. Every method runs in the caller's transaction and blocks. */
final class TokenKeyTable {
    private static final String KEY = "SELECT kid, generation, wrapped, wrapped_by, created, signs_from"
            + " FROM token_keys ";

    private TokenKeyTable() {}

    /** All keys, the oldest first. */
    static List<TokenKey> all(Connection connection) throws SQLException {
        return Rows.list(connection, TokenKeyTable::key, KEY + "ORDER BY generation");
    }

    static @Nullable TokenKey key(Connection connection, String kid) throws SQLException {
        return Rows.first(connection, TokenKeyTable::key, KEY + "WHERE kid = ?", kid);
    }

    /**
     * The key that signs now: the newest that may; null without keys.
     *
     * @param now seconds since 1970
     */
    static @Nullable TokenKey signing(Connection connection, long now) throws SQLException {
        return Rows.first(connection, TokenKeyTable::key,
                KEY + "WHERE signs_from <= ? ORDER BY generation DESC LIMIT 1", now);
    }

    /**
     * The time from which on a later key signs in the place of this one; null: there is no such key, or this
     * one is not stored.
     */
    static @Nullable Long succeededAt(Connection connection, String kid) throws SQLException {
        long at = Rows.count(connection,
                "SELECT coalesce(min(later.signs_from), -1) FROM token_keys later JOIN token_keys mine"
                        + " ON later.generation > mine.generation WHERE mine.kid = ?",
                kid);
        return at < 0 ? null : at;
    }

    /**
     * Whether a token may have been signed with this key, and still be valid.
     *
     * @param issued when the token was issued, in seconds since 1970
     * @param now seconds since 1970
     */
    static boolean verifies(Connection connection, String kid, long issued, long now) throws SQLException {
        if (key(connection, kid) == null) {
            return false;
        }
        Long succeeded = succeededAt(connection, kid);
        return SigningKeys.verifies(succeeded, now)
                && (succeeded == null || issued <= succeeded + SigningKeys.SKEW_SECONDS);
    }

    /** Stores a key. Returns false if there is one of that generation. */
    static boolean add(Connection connection, TokenKey key) throws SQLException {
        return Rows.update(connection,
                "INSERT INTO token_keys (kid, generation, wrapped, wrapped_by, created, signs_from)"
                        + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                key.kid(), key.generation(), key.wrapped().text(), key.wrapped().keyId(), key.created(),
                key.signsFrom()) == 1;
    }

    /** Stores the secret of a key as another key wrapped it. */
    static void rewrap(Connection connection, String kid, Wrapped wrapped) throws SQLException {
        Rows.update(connection, "UPDATE token_keys SET wrapped = ?, wrapped_by = ? WHERE kid = ?",
                wrapped.text(), wrapped.keyId(), kid);
    }

    static void remove(Connection connection, String kid) throws SQLException {
        Rows.update(connection, "DELETE FROM token_keys WHERE kid = ?", kid);
    }

    private static TokenKey key(ResultSet row) throws SQLException {
        return new TokenKey(row.getString(1), row.getLong(2), new Wrapped(row.getString(4), row.getString(3)),
                row.getLong(5), row.getLong(6));
    }
}
