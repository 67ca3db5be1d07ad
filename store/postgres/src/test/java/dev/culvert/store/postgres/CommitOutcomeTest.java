package dev.culvert.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.store.Database;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.LockScope;
import dev.culvert.store.Rows;
import dev.culvert.store.SchemaParts;
import dev.culvert.store.StoreException;
import dev.culvert.store.postgres.testing.TestServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** How changes end on a server. */
class CommitOutcomeTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            + " AND clock_timestamp() - query_start > interval '1500 ms'";

    private static final String WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
            + " AND datname = current_database()";

    /** PostgreSQL commits such a change: it would be wrong to say that it failed. */
    @Test
    void aCommitWhoseWaitForAReplicaIsCancelledIsUnknown() throws SQLException {
        DatabaseServer server = TestServer.database();
        Database database = open(server, Duration.ofSeconds(1));
        try (Connection other = TestServer.connect(server.database())) {
            TestServer.execute(server.database(), "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
            TestServer.execute(server.database(), "SELECT pg_reload_conf()");

            CompletableFuture<@Nullable Integer> change = add(database, "a").toFuture();
            // Longer than a statement may take: the limit does not hold for a COMMIT.
            await().atMost(TIME).until(() -> Rows.count(other, WAITS) == 1);
            Rows.count(other, "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
                    + " WHERE wait_event = 'SyncRep'");

            assertThatThrownBy(change::join).hasCauseInstanceOf(StoreException.Unknown.class)
                    .hasMessageContaining("it may have happened or not");
        } finally {
            TestServer.execute(server.database(), "ALTER SYSTEM RESET synchronous_standby_names");
            TestServer.execute(server.database(), "SELECT pg_reload_conf()");
        }
        assertThat(count(database)).isEqualTo(1);
        database.close().block(TIME);
    }

    @Test
    void aStatementThatTakesTooLongEndsItsChange() {
        Database database = open(TestServer.database(), Duration.ofSeconds(1));

        assertThatThrownBy(() -> database.transact(LockScope.ROWS,
                connection -> Rows.count(connection, "SELECT count(*) FROM pg_sleep(30)"), same -> same)
                .block(TIME))
                .isInstanceOf(StoreException.Busy.class);

        assertThat(count(database)).isZero();
        database.close().block(TIME);
    }

    @Test
    void aDeadlockIsRunAgain() {
        Database database = open(TestServer.database(), Duration.ofSeconds(10));
        add(database, "a").block(TIME);
        add(database, "b").block(TIME);
        var both = new CyclicBarrier(2);
        var runs = new AtomicInteger();

        CompletableFuture<@Nullable Integer> one = update(database, "a", "b", both, runs);
        CompletableFuture<@Nullable Integer> two = update(database, "b", "a", both, runs);

        assertThat(one.join()).isEqualTo(1);
        assertThat(two.join()).isEqualTo(1);
        // The one that is run again may be ahead of the other once more.
        assertThat(runs.get()).isBetween(3, 5);
        database.close().block(TIME);
    }

    private static CompletableFuture<@Nullable Integer> update(Database database, String first, String second,
            CyclicBarrier both, AtomicInteger runs) {
        var hasMet = new AtomicInteger();
        return database.transact(LockScope.ROWS, connection -> {
            runs.incrementAndGet();
            Rows.update(connection, "UPDATE things SET name = name WHERE name = ?", first);
            if (hasMet.getAndIncrement() == 0) {
                try {
                    both.await();
                } catch (InterruptedException | BrokenBarrierException e) {
                    throw new IllegalStateException(e);
                }
            }
            return Rows.update(connection, "UPDATE things SET name = name WHERE name = ?", second);
        }, same -> same).toFuture();
    }

    @Test
    void aFullDiskAndAReplicaAreNamed() {
        DatabaseServer server = TestServer.database();
        Database database = open(server, Duration.ofSeconds(10));
        raise(server, "53100");
        assertThatThrownBy(() -> add(database, "a").block(TIME)).isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("has no space left on its disk")
                .extracting(failed -> ((StoreException.Failed) failed).isDiskFull())
                .isEqualTo(true);
        raise(server, "25006");
        assertThatThrownBy(() -> add(database, "a").block(TIME)).isInstanceOf(StoreException.Away.class)
                .hasMessageContaining("is a replica now");
        assertThat(database.away()).contains("is a replica now");
        TestServer.execute(server.database(), "DROP TRIGGER fails ON things");
        await().atMost(TIME)
                .ignoreExceptions()
                .until(() -> add(database, "a").block(TIME), done -> done == 1);
        assertThat(database.away()).isNull();
        database.close().block(TIME);
    }

    @Test
    void aServerWithoutAConnectionLeftIsNotAway() {
        DatabaseServer server = TestServer.database();
        TestServer.execute(server.database(), "CREATE ROLE few LOGIN");
        TestServer.execute(server.database(), "GRANT ALL ON SCHEMA public TO few");
        Database database = open(TestServer.at(server.database(), "few"), Duration.ofSeconds(10));
        TestServer.execute(server.database(), "ALTER ROLE few CONNECTION LIMIT 1");

        database.transact(LockScope.ROWS, connection -> {
            // Holds the only connection while another operation needs one.
            assertThatThrownBy(() -> count(database)).isInstanceOf(StoreException.Busy.class);
            return 1;
        }, same -> same).block(TIME);

        assertThat(database.away()).isNull();
        assertThat(count(database)).isZero();
        database.close().block(TIME);
    }

    /** The server's detail of a failed constraint has the whole row. */
    @Test
    void aFailureOfAConstraintShowsNoData() {
        DatabaseServer server = TestServer.database();
        Database database = open(server, Duration.ofSeconds(10));
        TestServer.execute(server.database(), "ALTER TABLE things ADD CHECK (name <> 'secret')");

        assertThatThrownBy(() -> add(database, "secret").block(TIME))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("violates check constraint")
                .satisfies(failed -> assertThat(failed).hasStackTraceContaining("check constraint"))
                .extracting(failed -> failed.getMessage() + failed.getCause())
                .asString()
                .doesNotContain("secret");
        database.close().block(TIME);
    }

    /** No pool is left that nobody closes. */
    @Test
    void aStartThatIsCancelledLeavesNoConnection() throws SQLException {
        DatabaseServer server = TestServer.database();
        Mono<PostgresDatabase> start = PostgresDatabase.open(server, new SchemaParts(new LinkedHashMap<>(
                Map.of("things",
                        List.of(List.of("CREATE TABLE things (name TEXT PRIMARY KEY)", "SELECT wait()"))))));
        TestServer.execute(server.database(), "CREATE FUNCTION wait() RETURNS void LANGUAGE sql"
                + " AS 'SELECT pg_advisory_xact_lock(1)'");
        try (Connection other = TestServer.connect(server.database())) {
            Rows.count(other, "SELECT count(pg_advisory_lock(1))");
            Disposable starting = start.subscribe();
            await().atMost(TIME).until(() -> Rows.count(other, WAITING) == 1);
            starting.dispose();
            Rows.count(other, "SELECT count(pg_advisory_unlock(1))");

            await().atMost(TIME)
                    .until(() -> Rows.count(other, "SELECT count(*) FROM pg_stat_activity"
                            + " WHERE application_name = 'culvert' AND datname = current_database()") == 0);
        }
    }

    private static void raise(DatabaseServer server, String state) {
        TestServer.execute(server.database(),
                "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql"
                        + " AS $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '" + state
                        + "'; END $$");
        TestServer.execute(server.database(),
                "CREATE OR REPLACE TRIGGER fails BEFORE INSERT ON things FOR EACH ROW"
                        + " EXECUTE FUNCTION fails()");
    }

    private static Mono<Integer> add(Database database, String name) {
        return database.transact(LockScope.of("x"),
                connection -> Rows.update(connection, "INSERT INTO things VALUES (?)", name), same -> same);
    }

    private static long count(Database database) {
        return Objects.requireNonNull(database
                .read(connection -> Rows.count(connection, "SELECT count(*) FROM things"))
                .block(TIME));
    }

    private static Database open(DatabaseServer there, Duration statementTimeout) {
        var parts = new LinkedHashMap<String, List<List<String>>>();
        parts.put("things", List.of(List.of("CREATE TABLE things (name TEXT PRIMARY KEY)")));
        var server = new DatabaseServer(there.hosts(), there.database(), there.user(), null, true, null, 4,
                100,
                Duration.ofSeconds(2), statementTimeout, Duration.ofSeconds(10), Duration.ofSeconds(5));
        return Objects.requireNonNull(PostgresDatabase.open(server, new SchemaParts(parts)).block(TIME));
    }
}
