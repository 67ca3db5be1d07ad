package dev.culvert.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right of one process to change a database, stored as a row in it. Each holder has a higher
 * fencing number than the one before. Each of its transactions first checks that the row still has that
 * number, so a holder that slept beyond its lease changes nothing. A released lease stays released: its
 * process neither renews it nor takes it again. Used only by the database's thread, within its transactions.
 */
public final class SqliteLease {
    /**
     * The duration of a lease after its last heartbeat. A process that takes over from a dead machine waits
     * this long.
     */
    public static final Duration LIFE = Duration.ofSeconds(8);
    /** The heartbeat interval. Three heartbeats may fail before the lease expires. */
    public static final Duration BEAT = Duration.ofSeconds(2);

    /** The expiry of a lease that its holder has released. */
    private static final Instant GIVEN_BACK = Instant.EPOCH;

    /**
     * The lease's table. It is read before the versioned schema may be touched, so it is not part of that
     * schema. Never edited.
     */
    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS lease (
              one INTEGER PRIMARY KEY CHECK (one = 1), fence INTEGER NOT NULL, owner TEXT NOT NULL,
              host TEXT NOT NULL, pid INTEGER NOT NULL, machine TEXT NOT NULL, born INTEGER NOT NULL,
              since INTEGER NOT NULL, until INTEGER NOT NULL) STRICT""";

    private final Path file;
    private final Clock clock;
    private final String owner = UUID.randomUUID().toString();
    private final HolderProcess self;
    private long fence;
    private boolean givenBack;

    /** Creates the lease of this process. Blocks: reads the identity of the process. */
    public SqliteLease(Path file, Clock clock) {
        this.file = file;
        this.clock = clock;
        this.self = HolderProcess.current();
    }

    /** The row in the table. */
    record Holder(long fence, HolderProcess process, Instant since, Instant until) {
        boolean isFree(Instant now) {
            return !until.isAfter(now) || process.isGone();
        }

        boolean isGivenBack() {
            return until.equals(GIVEN_BACK);
        }

        @Override
        public String toString() {
            return process + ", since " + since.truncatedTo(ChronoUnit.SECONDS) + ", until "
                    + until.truncatedTo(ChronoUnit.SECONDS) + " unless it goes on";
        }
    }

    /** Creates the table, so that the lease can be read before a process has taken it. */
    public static void prepare(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
        }
    }

    /**
     * Takes the lease. Throws {@link StoreException.Held} while another holds it, and after {@link
     * #giveBack}.
     */
    public void take(Connection connection) throws SQLException {
        refuseAfterGivingBack();
        prepare(connection);
        Instant now = clock.instant();
        Holder before = holder(connection);
        if (before != null && !before.isFree(now)) {
            throw new StoreException.Held("the database " + file + " is held by another process (" + before
                    + "); stop that one, or name another folder");
        }
        fence = before == null ? 1 : before.fence() + 1;
        SqliteDatabase.update(connection, "INSERT OR REPLACE INTO lease VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
                fence, owner,
                self.host(), self.pid(), self.machine(), self.born(), now.toEpochMilli(), end(now));
    }

    /**
     * Throws {@link StoreException.Held} if another process has taken the lease or this process has released
     * it.
     */
    public void check(Connection connection) throws SQLException {
        refuseAfterGivingBack();
        Holder holder = holder(connection);
        if (holder == null || holder.fence() != fence || holder.isGivenBack()) {
            throw new StoreException.Held("another server took the database over"
                    + (holder == null ? "" : " (" + holder + ")") + "; this one makes no more changes");
        }
    }

    /**
     * Renews the lease. If it has expired and no process has taken it, takes it with the next fencing number.
     * Throws as {@link #check} does.
     */
    public void renew(Connection connection) throws SQLException {
        check(connection);
        Instant now = clock.instant();
        int renewed = SqliteDatabase.update(connection,
                "UPDATE lease SET until = ? WHERE fence = ? AND owner = ? AND until > ?", end(now), fence,
                owner, now.toEpochMilli());
        if (renewed == 0) {
            take(connection);
        }
    }

    private void refuseAfterGivingBack() {
        if (givenBack) {
            throw new StoreException.Held(
                    "this process gave the database " + file + " back and makes no more changes");
        }
    }

    /** Releases the lease for good, if this process still holds it. The fencing number stays. */
    public void giveBack(Connection connection) throws SQLException {
        givenBack = true;
        SqliteDatabase.update(connection, "UPDATE lease SET until = 0 WHERE fence = ? AND owner = ?", fence,
                owner);
    }

    /** Ends the lease of any holder, in a database that only the caller has open. */
    public static void free(Connection connection) throws SQLException {
        prepare(connection);
        SqliteDatabase.update(connection, "UPDATE lease SET until = 0");
    }

    /** The fencing number of this process's last lease. */
    long fence() {
        return fence;
    }

    private static long end(Instant now) {
        return now.plus(LIFE).toEpochMilli();
    }

    /** The row in the table; null if there is none. */
    static @Nullable Holder holder(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT fence, host, pid, machine, born, since, until FROM lease")) {
            return row.next()
                    ? new Holder(row.getLong(1),
                            new HolderProcess(row.getString(2), row.getLong(3), row.getString(4),
                                    row.getLong(5)),
                            Instant.ofEpochMilli(row.getLong(6)), Instant.ofEpochMilli(row.getLong(7)))
                    : null;
        }
    }
}
