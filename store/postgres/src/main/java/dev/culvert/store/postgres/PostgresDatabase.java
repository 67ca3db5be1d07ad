package dev.culvert.store.postgres;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.culvert.store.Database;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.LockScope;
import dev.culvert.store.SchemaParts;
import dev.culvert.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * A database on a PostgreSQL server, shared with other processes. Each operation runs on a virtual thread of
 * its own, with one of a bounded number of connections; others wait in an {@link OperationQueue}.
 *
 * <p>Changes are READ COMMITTED; what they check stays true because they exclude others by their {@link
 * LockScope}, with locks that the server gives up at the end of the transaction. Reads see one snapshot. A
 * transaction that could not be committed for another one's sake, or that lost its connection before the
 * commit, is run again. Once the commit was sent, a lost connection or a warning means {@link
 * StoreException.Unknown}: a server whose wait for a replica is cancelled commits with a
 * warning.
 */
public final class PostgresDatabase implements Database {
    /** How often a transaction is run when deadlocks end it. */
    private static final int MAX_RUNS = 4;
    /** While the server is away: how long operations fail at once, before one asks again. */
    private static final Duration AWAY_PAUSE = Duration.ofMillis(250);
    private static final Duration START_PAUSE = Duration.ofMillis(500);
    private static final Duration LOG_PAUSE = Duration.ofSeconds(10);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);
    /** A difference of the clocks that operators should know of. */
    private static final Duration SKEW = Duration.ofSeconds(2);
    /** The lock that every change but those of rows has: shared by named ones. */
    private static final long EVERYTHING = lock("everything");
    private static final Logger log = LoggerFactory.getLogger(PostgresDatabase.class);

    private final DatabaseServer server;
    private final PostgresProblem problem;
    private final HikariDataSource pool;
    private final OperationQueue queue;
    private final AtomicReference<@Nullable Absence> absence = new AtomicReference<>();
    /** By {@link System#nanoTime}; 0: never. */
    private final AtomicLong failureLogged = new AtomicLong();

    private PostgresDatabase(DatabaseServer server, HikariDataSource pool) {
        this.server = server;
        this.problem = new PostgresProblem(server);
        this.pool = pool;
        this.queue = new OperationQueue(server.maxConnections(), server.maxWaiting());
    }

    /**
     * The server can't be reached.
     *
     * @param reason for operators
     * @param since when the first operation failed
     * @param askAgain from when an operation may try again, by {@link System#nanoTime}
     */
    private record Absence(String reason, Instant since, long askAgain) {}

    /** As {@link dev.culvert.store.DatabaseEngine#open}. */
    static Mono<PostgresDatabase> open(DatabaseServer server, SchemaParts schema) {
        var problem = new PostgresProblem(server);
        return Mono.<PostgresDatabase>create(sink -> {
            var isCancelled = new AtomicBoolean();
            sink.onCancel(() -> isCancelled.set(true));
            Thread.ofVirtual().name("culvert-store").start(() -> {
                try {
                    new PostgresSchema(server, schema).migrate();
                    if (!isCancelled.get()) {
                        sink.success(new PostgresDatabase(server, PostgresPool.of(server)));
                    }
                } catch (Throwable failed) {
                    sink.error(failed);
                }
            });
        })
                .doOnDiscard(PostgresDatabase.class, unwanted -> unwanted.pool.close())
                .onErrorMap(SQLException.class, problem::told)
                .retryWhen(Retry
                        .fixedDelay(server.startTimeout().dividedBy(START_PAUSE), START_PAUSE)
                        .filter(failed -> failed instanceof StoreException.Away
                                || failed instanceof StoreException.Busy)
                        .doBeforeRetry(again -> tellWaiting(again, server))
                        .onRetryExhaustedThrow((retry, last) -> last.failure()));
    }

    private static void tellWaiting(Retry.RetrySignal again, DatabaseServer server) {
        if (again.totalRetries() == 0) {
            log.atWarn()
                    .addKeyValue("reason", again.failure().getMessage())
                    .addKeyValue("waitSeconds", server.startTimeout().toSeconds())
                    .log("waiting for the database");
        }
    }

    @Override
    public Engine engine() {
        return Engine.POSTGRES;
    }

    @Override
    public <T> Mono<T> read(Work<T> work) {
        return operation(() -> queue.enter(null), () -> readNow(work));
    }

    @Override
    public <T> Mono<T> readFirst(Work<T> work) {
        return operation(queue::enterFirst, () -> readNow(work));
    }

    private <T> T readNow(Work<T> work) throws Exception {
        return again(() -> withConnection(connection -> {
            execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            T result = work.run(connection);
            connection.rollback();
            return result;
        }));
    }

    @Override
    public <T, R> Mono<R> transact(LockScope scope, Work<T> work, Function<T, R> then) {
        return operation(() -> queue.enter(scope), () -> then.apply(again(() -> withConnection(connection -> {
            lock(connection, scope);
            T result = work.run(connection);
            commit(connection);
            return result;
        }))));
    }

    @Override
    public Mono<Void> lost() {
        return Mono.never();
    }

    @Override
    public @Nullable String away() {
        Absence here = absence.get();
        return here == null ? null : here.reason() + ", since " + here.since();
    }

    @Override
    public Mono<List<String>> troubles() {
        return read(connection -> {
            long before = System.currentTimeMillis();
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")) {
                long theirs = row.next() ? row.getLong(1) : before;
                long skew = theirs - (before + System.currentTimeMillis()) / 2;
                return Math.abs(skew) < SKEW.toMillis()
                        ? List.<String>of()
                        : List.of("the clock of this machine is " + Math.abs(skew) / 1000 + " s "
                                + (skew > 0 ? "behind" : "ahead of") + " that of " + server.name()
                                + " (expected: both follow the same time server)");
            }
        });
    }

    @Override
    public Mono<Void> close() {
        return Mono.<Void>fromCallable(() -> {
            boolean isIdle = queue.close(CLOSE_PATIENCE);
            if (!isIdle) {
                log.atWarn().log("the database is closed while changes run");
            }
            pool.close();
            return null;
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Runs work on a virtual thread, in its turn. Cancelling drops work that has not begun.
     *
     * @param turn takes the place of the work
     */
    private <T> Mono<T> operation(Supplier<OperationQueue.Place> turn, Callable<T> work) {
        return Mono.create(sink -> {
            OperationQueue.Place place = turn.get();
            sink.onCancel(place::cancel);
            Thread.ofVirtual().name("culvert-store").start(() -> {
                try {
                    T result = inTurn(work, place);
                    if (result == null) {
                        sink.success();
                    } else {
                        sink.success(result);
                    }
                } catch (SQLException failed) {
                    StoreException told = problem.told(failed);
                    logFailure(told);
                    sink.error(told);
                } catch (Throwable failed) {
                    sink.error(failed);
                }
            });
        });
    }

    /** Callers are not told the server's words. A failure that goes on is logged every 10 s. */
    private void logFailure(StoreException told) {
        long now = System.nanoTime();
        long before = failureLogged.get();
        if (told instanceof StoreException.Failed && (before == 0 || now - before > LOG_PAUSE.toNanos())
                && failureLogged.compareAndSet(before, now)) {
            log.atWarn().addKeyValue("reason", told.getMessage()).log("the database failed");
        }
    }

    private <T> @Nullable T inTurn(Callable<T> work, OperationQueue.Place place) throws Exception {
        try {
            return place.await(server.lockTimeout()) ? work.call() : null;
        } finally {
            place.end();
        }
    }

    /** Runs a transaction again that ended before its commit, for a reason that may not come again. */
    private <T> T again(Callable<T> transaction) throws Exception {
        boolean isReconnected = false;
        for (int run = 1;; run++) {
            try {
                return transaction.call();
            } catch (SQLException failed) {
                boolean isOther = PostgresProblem.isAway(failed) && !isReconnected && absence.get() == null;
                isReconnected |= isOther;
                if (run == MAX_RUNS || !isOther && !PostgresProblem.isDeadlock(failed)) {
                    if (PostgresProblem.isAway(failed)) {
                        gone(failed);
                    }
                    throw failed;
                }
            }
        }
    }

    private <T> T withConnection(Work<T> work) throws SQLException {
        Connection connection = connect();
        try {
            T result = work.run(connection);
            back();
            return result;
        } catch (SQLException | RuntimeException | Error failed) {
            rollBack(connection, failed);
            throw failed;
        } finally {
            giveBack(connection);
        }
    }

    /** What was committed stays so when its connection can't be given back. */
    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failed) {
            log.atDebug()
                    .addKeyValue("reason", PostgresProblem.reason(failed))
                    .log("a connection was not given back");
        }
    }

    private Connection connect() throws SQLException {
        Absence here = absence.get();
        if (here != null && System.nanoTime() - here.askAgain() < 0) {
            throw new StoreException.Away(here.reason(), null);
        }
        if (pool.isClosed()) {
            throw new StoreException.Busy("the database is closed");
        }
        try {
            return pool.getConnection();
        } catch (SQLException failed) {
            // All connections in use say nothing of the server.
            if (PostgresProblem.isAway(failed)) {
                gone(failed);
            }
            throw failed;
        }
    }

    private void gone(SQLException failed) {
        String reason = String.valueOf(problem.told(failed).getMessage());
        Absence known = absence.getAndUpdate(before -> new Absence(reason,
                before == null ? Instant.now() : before.since(),
                System.nanoTime() + AWAY_PAUSE.toNanos()));
        if (known == null) {
            log.atWarn().addKeyValue("reason", reason).log("the database is away");
        }
    }

    private void back() {
        Absence before = absence.get();
        if (before != null && absence.compareAndSet(before, null)) {
            log.atInfo()
                    .addKeyValue("seconds", Duration.between(before.since(), Instant.now()).toSeconds())
                    .log("the database is back");
        }
    }

    private void rollBack(Connection connection, Throwable failed) {
        try {
            if (failed instanceof SQLException gone && PostgresProblem.isReadOnly(gone)) {
                // The server is a replica now: no connection to it is of use.
                HikariPoolMXBean bean = pool.getHikariPoolMXBean();
                pool.evictConnection(connection);
                bean.softEvictConnections();
            } else if (failed instanceof StoreException.Unknown) {
                pool.evictConnection(connection);
            } else {
                connection.rollback();
            }
        } catch (SQLException more) {
            pool.evictConnection(connection);
            failed.addSuppressed(more);
        }
    }

    private void commit(Connection connection) throws SQLException {
        // A COMMIT may wait for a replica: cancelling it would not undo it.
        execute(connection, "SET LOCAL statement_timeout = 0");
        connection.clearWarnings();
        SQLException warning;
        try {
            connection.commit();
            warning = connection.getWarnings();
        } catch (SQLException failed) {
            if (PostgresProblem.state(failed).isEmpty() || PostgresProblem.isAway(failed)) {
                log.atWarn()
                        .addKeyValue("reason", PostgresProblem.reason(failed))
                        .log("the outcome of a change is unknown");
                throw problem.unknown(failed);
            }
            throw failed;
        }
        if (warning != null) {
            log.atWarn()
                    .addKeyValue("reason", PostgresProblem.reason(warning))
                    .log("the outcome of a change is unknown");
            throw problem.unknown(warning);
        }
    }

    private static void lock(Connection connection, LockScope scope) throws SQLException {
        switch (scope.kind()) {
            case ROWS -> {
            }
            case ALL -> lock(connection, "SELECT pg_advisory_xact_lock(?)", EVERYTHING);
            case NAMED -> lock(connection,
                    "SELECT pg_advisory_xact_lock_shared(?), pg_advisory_xact_lock(?)", EVERYTHING,
                    lock("scope " + scope.name()));
        }
    }

    private static void lock(Connection connection, String sql, long... keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < keys.length; i++) {
                statement.setLong(i + 1, keys[i]);
            }
            statement.execute();
        }
    }

    /** The number of a lock. Names with the same number exclude each other needlessly. */
    private static long lock(String name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256")
                    .digest(("culvert " + name).getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
