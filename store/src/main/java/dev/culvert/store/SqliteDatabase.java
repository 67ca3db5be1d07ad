package dev.culvert.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * One SQLite file with one connection and one dedicated thread, which does all blocking work on the file.
 * Only the process that holds the {@link SqliteLease} changes the file, so its content may be cached in
 * memory.
 */
public final class SqliteDatabase implements Database {
    private static final Logger log = LoggerFactory.getLogger(SqliteDatabase.class);
    private static final int IDLE_THREAD_SECONDS = 60;
    /**
     * The time between two attempts to take the lease. Short enough for a quick takeover, long enough to cost
     * nothing.
     */
    private static final Duration ASK_AGAIN = Duration.ofMillis(100);
    /** The time between two notes that this process waits for the lease. */
    private static final Duration SAY_AGAIN = Duration.ofSeconds(1);
    /**
     * The wait for SQLite's own lock, which a backup or a heartbeat of another process holds for a moment.
     */
    private static final Duration BUSY_WAIT = Duration.ofSeconds(5);

    private final Path file;
    private final @Nullable Object identity;
    private final Scheduler scheduler;
    private final Connection connection;
    private final SqliteLease lease;
    private final DatabaseSchema schema;
    private final Clock clock;
    private final Sinks.One<StoreException.Held> lost = Sinks.one();
    private final Disposable.Swap heartbeat = Disposables.swap();
    /** Confined to the database's thread. */
    private volatile boolean released;
    /** Whether another process waited for the lease when this one released it. */
    private volatile boolean awaited;
    /** When this process notes again that it waits. Confined to the database's thread. */
    private @Nullable Instant sayAgain;

    private SqliteDatabase(Path file, @Nullable Object identity, Scheduler scheduler, Connection connection,
            SqliteLease lease, DatabaseSchema schema, Clock clock) {
        this.clock = clock;
        this.file = file;
        this.identity = identity;
        this.scheduler = scheduler;
        this.connection = connection;
        this.lease = lease;
        this.schema = schema;
    }

    /**
     * Opens {@code file}, or creates it with its folder. Migrates it to the newest version of {@code schema}
     * and takes its lease. Errors: {@link StoreException.Held} if another process still holds the lease after
     * {@link SqliteLimits#lockTimeout}; {@link StoreException.Failed}.
     */
    public static Mono<SqliteDatabase> open(Path file, DatabaseSchema schema, SqliteLimits limits,
            Clock clock) {
        return Mono.defer(() -> {
            Scheduler scheduler = Schedulers.newBoundedElastic(1, limits.maxQueued(), "culvert-store",
                    IDLE_THREAD_SECONDS, true);
            return Mono.fromCallable(() -> {
                makeFolder(file);
                makeFile(file);
                Object identity = identity(file);
                return new SqliteDatabase(file, identity, scheduler, connect(file),
                        new SqliteLease(file, clock), schema, clock);
            })
                    .subscribeOn(scheduler)
                    .flatMap(database -> database.begin(limits.lockTimeout()))
                    .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                    .onErrorMap(IOException.class, failed -> DatabaseProblem.of(file, failed))
                    .doOnError(failed -> scheduler.dispose())
                    .doOnCancel(scheduler::dispose);
        });
    }

    /** Binds the values of a statement and executes it within the caller's transaction. */
    public static int update(Connection connection, String sql, @Nullable Object... values)
            throws SQLException {
        return Rows.update(connection, sql, values);
    }

    /**
     * Runs {@code work} in a transaction on the database's thread, then calls {@code then} with the result on
     * the same thread. The transaction also writes a {@link TransactionPart} of the Reactor context.
     * Cancelling drops work that has not begun. Errors: {@link StoreException}.
     */
    public <T, R> Mono<R> transact(Work<T> work, Function<T, R> then) {
        return transact(LockScope.ALL, work, then);
    }

    @Override
    public Engine engine() {
        return Engine.SQLITE;
    }

    @Override
    public <T, R> Mono<R> transact(LockScope scope, Work<T> work, Function<T, R> then) {
        return Mono.deferContextual(context -> {
            TransactionPart mark = context.<TransactionPart>getOrEmpty(TransactionPart.class).orElse(null);
            return onThread(() -> then.apply(mark == null ? holding(work) : noted(work, mark)));
        });
    }

    private <R> Mono<R> onThread(Callable<R> work) {
        return Mono.fromCallable(work)
                .subscribeOn(scheduler)
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                .onErrorMap(RejectedExecutionException.class, full -> new StoreException.Busy(
                        "the database has too much to do, or is closed; try again later"));
    }

    /**
     * Runs read-only {@code work} on the database's thread, without SQLite's write lock. Empty only if {@code
     * work} returns null. Errors: {@link StoreException}.
     */
    @Override
    public <T> Mono<T> read(Work<T> work) {
        return onThread(() -> {
            requireOpen();
            return transaction(connection, "BEGIN", work);
        });
    }

    public Path file() {
        return file;
    }

    /** Never completes; fails with {@link StoreException.Held} when another process has taken the lease. */
    @Override
    public Mono<Void> lost() {
        return lost.asMono().flatMap(Mono::error);
    }

    /**
     * Releases the lease and closes the file. This process makes no further changes. Completes empty; a
     * repeated call completes at once.
     */
    public Mono<Void> release() {
        return Mono.<Void>fromCallable(() -> {
            giveUp();
            return null;
        })
                .subscribeOn(scheduler)
                .onErrorComplete(RejectedExecutionException.class)
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed));
    }

    /**
     * Notes in the database that this process serves, for the holder before it: {@link #succeeded}. Completes
     * empty. Errors: {@link StoreException}.
     */
    public Mono<Void> serving() {
        return transact(own -> {
            LeaseNotes.serving(own, lease.fence());
            return this;
        }, noted -> noted).then();
    }

    /**
     * After {@link #release}: emits true when the next holder serves. Emits false at once if no process
     * waited for the lease, or if it was of a version that leaves no such note; also if none has the lease
     * for {@code patience}, and after {@code most} at the latest.
     */
    public Mono<Boolean> succeeded(Duration patience, Duration most) {
        return Mono.defer(() -> awaited
                ? Succession.watch(new Succession.Released(file, lease.fence(), clock), patience, most)
                : Mono.just(false));
    }

    /** Whether {@link #release} has begun to release the lease. For any thread. */
    public boolean isReleased() {
        return released;
    }

    /** Waits for running work, releases the lease and closes the file. Completes empty. */
    @Override
    public Mono<Void> close() {
        return release().then(scheduler.disposeGracefully());
    }

    private Mono<SqliteDatabase> begin(Duration wait) {
        long asks = Math.max(0, wait.dividedBy(ASK_AGAIN));
        return Mono.fromCallable(() -> {
            takeOrWait(asks > 0);
            heartbeat.update(scheduler.schedulePeriodically(this::beat, SqliteLease.BEAT.toMillis(),
                    SqliteLease.BEAT.toMillis(), TimeUnit.MILLISECONDS));
            return this;
        })
                .subscribeOn(scheduler)
                .retryWhen(Retry.fixedDelay(asks, ASK_AGAIN)
                        .filter(StoreException.Held.class::isInstance)
                        .doBeforeRetry(again -> tellWaiting(again, wait))
                        .onRetryExhaustedThrow((retry, last) -> last.failure()))
                .onErrorResume(failed -> closed().then(Mono.error(failed)))
                .doOnCancel(() -> closed().subscribe());
    }

    private static void tellWaiting(Retry.RetrySignal again, Duration wait) {
        if (again.totalRetries() == 0) {
            log.atWarn()
                    .addKeyValue("reason", again.failure().getMessage())
                    .addKeyValue("waitSeconds", wait.toSeconds())
                    .log("waiting for the database");
        }
    }

    private void takeOrWait(boolean waits) throws SQLException, IOException {
        try {
            take();
        } catch (StoreException.Held held) {
            if (waits) {
                noteWaiting();
            }
            throw held;
        }
    }

    /** Tells the holder that its successor is there. Does not wait for the disk, as a heartbeat does not. */
    private void noteWaiting() {
        Instant now = clock.instant();
        if (sayAgain != null && now.isBefore(sayAgain)) {
            return;
        }
        sayAgain = now.plus(SAY_AGAIN);
        try {
            synchronous("NORMAL");
            transaction(connection, own -> {
                LeaseNotes.waiting(own, now);
                return own;
            });
        } catch (SQLException failed) {
            log.atDebug().addKeyValue("reason", failed.getMessage()).log("the wait could not be noted");
        } finally {
            syncFully();
        }
    }

    private void take() throws SQLException, IOException {
        transaction(connection, own -> {
            SqliteSchema.refuseForeign(own);
            lease.take(own);
            LeaseNotes.taken(own, lease.fence());
            return this;
        });
        try {
            // In a transaction of its own: the holder before sees the lease above, however long this takes.
            transaction(connection, own -> {
                SqliteSchema.check(own);
                schema.migrate(own);
                lease.renew(own);
                return this;
            });
        } catch (SQLException | RuntimeException failed) {
            giveBackUnused(failed);
            throw failed;
        }
        // A restore during the wait replaces the file.
        if (!Objects.equals(identity, identity(file))) {
            throw new SQLException("it was replaced meanwhile (expected: nobody touches it; start again)");
        }
    }

    /** The next process need not wait for the end of a lease that could not be used. */
    private void giveBackUnused(Exception failed) {
        try {
            transaction(connection, own -> {
                lease.giveBack(own);
                return this;
            });
        } catch (SQLException | RuntimeException more) {
            failed.addSuppressed(more);
        }
    }

    private static @Nullable Object identity(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private Mono<Void> closed() {
        return Mono.<Void>fromCallable(() -> {
            connection.close();
            return null;
        }).subscribeOn(scheduler).onErrorComplete();
    }

    private void giveUp() throws SQLException {
        heartbeat.dispose();
        if (released) {
            return;
        }
        released = true;
        try {
            transaction(connection, own -> {
                lease.giveBack(own);
                return own;
            });
            awaited = LeaseNotes.isAwaited(connection, clock.instant());
        } finally {
            connection.close();
        }
    }

    /**
     * Renews the lease without waiting for the disk: the lease matters only to running processes, so it need
     * not survive a power failure.
     */
    private void beat() {
        if (released) {
            return;
        }
        try {
            synchronous("NORMAL");
            holdingLease(own -> {
                lease.renew(own);
                return own;
            });
        } catch (SQLException | RuntimeException failed) {
            log.atWarn().addKeyValue("reason", failed.getMessage()).log("database lease not renewed");
        } finally {
            syncFully();
        }
    }

    private void syncFully() {
        try {
            synchronous("FULL");
        } catch (SQLException failed) {
            log.atError().setCause(failed).log("database does not sync fully");
        }
    }

    /** Sets the synchronous mode. SQLite accepts it only between transactions. */
    private void synchronous(String mode) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA synchronous = " + mode);
        }
    }

    private <T> T noted(Work<T> work, TransactionPart mark) throws SQLException {
        T result = holding(own -> {
            T made = work.run(own);
            mark.write(own);
            return made;
        });
        mark.committed();
        return result;
    }

    private <T> T holding(Work<T> work) throws SQLException {
        requireOpen();
        return holdingLease(own -> {
            lease.check(own);
            return work.run(own);
        });
    }

    private void requireOpen() {
        if (released) {
            throw new StoreException.Held("this process is stopping and makes no more changes; try again");
        }
    }

    private <T> T holdingLease(Work<T> work) throws SQLException {
        try {
            return transaction(connection, work);
        } catch (StoreException.Held gone) {
            if (lost.tryEmitValue(gone).isSuccess()) {
                heartbeat.dispose();
                log.atError().addKeyValue("reason", gone.getMessage()).log("database lease lost");
            }
            throw gone;
        }
    }

    /** Runs {@code work} in a transaction that excludes other writers. Blocks. */
    public static <T> T transaction(Connection connection, Work<T> work) throws SQLException {
        return transaction(connection, "BEGIN IMMEDIATE", work);
    }

    private static <T> T transaction(Connection connection, String begin, Work<T> work) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // Not through the driver's autocommit, which begins the next transaction and takes its lock right
            // after each commit.
            statement.execute(begin);
            try {
                T result = work.run(connection);
                statement.execute("COMMIT");
                return result;
            } catch (SQLException | RuntimeException failed) {
                rollBack(statement, failed);
                throw failed;
            }
        }
    }

    /** Rolls back. After some failures, for example a full disk, SQLite has already rolled back. */
    private static void rollBack(Statement statement, Exception failed) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException none) {
            failed.addSuppressed(none);
        }
    }

    /** Creates the folder of {@code file}, accessible only to its owner. Blocks. */
    public static void makeFolder(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /**
     * Creates {@code file}, accessible only to its owner; SQLite itself would create it readable for all. The
     * journal gets the same mode. Blocks.
     */
    public static void makeFile(Path file) throws IOException {
        if (Files.notExists(file)) {
            Files.createFile(file,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
    }

    /** Opens a connection for {@link #transaction}. The caller closes it. */
    public static Connection connect(Path file) throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(JournalMode.WAL);
        // With the default of WAL mode a power failure would lose the last commits.
        config.setSynchronous(SynchronousMode.FULL);
        config.enforceForeignKeys(true);
        config.setBusyTimeout((int) BUSY_WAIT.toMillis());
        return config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
    }
}
