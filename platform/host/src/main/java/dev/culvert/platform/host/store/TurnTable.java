package dev.culvert.platform.host.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The turns of several processes on PostgreSQL, by its clock. Each claim has a number of its own, so that a
 * process which lost its turn unnoticed can't be taken for its successor. Every method blocks.
 */
final class TurnTable {
    private static final String CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    private TurnTable() {}

    /** Claims a turn that nobody has. Returns the number of the claim, or null. */
    static @Nullable Long claim(Connection connection, String name, String holder, Duration life)
            throws SQLException {
        return Rows.first(connection, row -> row.getLong(1),
                "INSERT INTO platform_turns AS t (name, number, holder, claimed_until) VALUES (?, 1, ?, "
                        + CLOCK
                        + " + ?) ON CONFLICT (name) DO UPDATE SET number = t.number + 1, holder = excluded.holder,"
                        + " claimed_until = excluded.claimed_until WHERE t.claimed_until <= " + CLOCK
                        + " RETURNING number",
                name, holder, life.toMillis());
    }

    /** Makes a claim last longer. Returns false if another process has claimed the turn. */
    static boolean renew(Connection connection, String name, long number, Duration life) throws SQLException {
        return Rows.update(connection,
                "UPDATE platform_turns SET claimed_until = " + CLOCK + " + ? WHERE name = ? AND number = ?",
                life.toMillis(), name, number) == 1;
    }

    /** Gives a turn to others. */
    static void release(Connection connection, String name, long number) throws SQLException {
        Rows.update(connection, "UPDATE platform_turns SET claimed_until = 0 WHERE name = ? AND number = ?",
                name,
                number);
    }

    /** Whether nobody has claimed the turn since. Then nobody can until the transaction has ended. */
    static boolean isHeld(Connection change, String name, long number) throws SQLException {
        return Rows.first(change, row -> row.getLong(1),
                "SELECT number FROM platform_turns WHERE name = ? AND number = ? FOR SHARE", name,
                number) != null;
    }
}
