package dev.culvert.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
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
 * One SQLite file with one connection, used by one thread of its own: all blocking work on it happens here. Only the
 * process that has its {@link SqliteLease} changes it, so that its content may also be held in memory.
 */
public final class SqliteDatabase {
    private static final Logger log = LoggerFactory.getLogger(SqliteDatabase.class);
    private static final int IDLE_THREAD_SECONDS = 60;
    /** Short enough that a successor begins at once, long enough to cost nothing. */
    private static final Duration ASK_AGAIN = Duration.ofMillis(100);
    /** For the moments in which a backup or a heartbeat of another process has SQLite's own lock. */
    private static final Duration BUSY_WAIT = Duration.ofSeconds(5);

    private final Path file;
    private final @Nullable Object identity;
    private final Scheduler scheduler;
    private final Connection connection;
    private final SqliteLease lease;
    private final SqliteSchema schema;
    private final Sinks.One<StoreException.Held> lost = Sinks.one();
    private final Disposable.Swap heartbeat = Disposables.swap();
    /** Of the database's thread. */
    private boolean released;

    private SqliteDatabase(Path file, @Nullable Object identity, Scheduler scheduler, Connection connection,
            SqliteLease lease, SqliteSchema schema) {
        this.file = file;
        this.identity = identity;
        this.scheduler = scheduler;
        this.connection = connection;
        this.lease = lease;
        this.schema = schema;
    }

    /** Work in a transaction: committed when it returns, rolled back when it throws. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /**
     * Opens, or makes, {@code file} in the newest version of {@code schema}, with the folder around it, and takes its lease. Errors: {@link
     * StoreException.Held} when another process still has it after the limits' wait; {@link StoreException.Failed}.
     */
    public static Mono<SqliteDatabase> open(Path file, SqliteSchema schema, SqliteLimits limits,
            Clock clock) {
        return Mono.defer(() -> {
            Scheduler scheduler = Schedulers.newBoundedElastic(1, limits.maxQueued(), "culvert-store",
                    IDLE_THREAD_SECONDS, true);
            return Mono.fromCallable(() -> {
                makeFolder(file);
                makeFile(file);
                Object identity = identity(file);
                return new SqliteDatabase(file, identity, scheduler, connect(file),
                        new SqliteLease(file, clock), schema);
            })
                    .subscribeOn(scheduler)
                    .flatMap(database -> database.begin(limits.lockTimeout()))
                    .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                    .onErrorMap(IOException.class, failed -> DatabaseProblem.of(file, failed))
                    .doOnError(failed -> scheduler.dispose())
                    .doOnCancel(scheduler::dispose);
        });
    }

    /** Sets a statement's values and runs it, within the caller's transaction. */
    public static int update(Connection connection, String sql, @Nullable Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    /**
     * Runs {@code work} in a transaction on the database's thread, then {@code then} with its result on the same
     * thread. A {@link TransactionPart} in the Reactor context is written with it. Cancelling drops work that has not begun.
     * Errors: {@link StoreException}.
     */
    public <T, R> Mono<R> transact(Work<T> work, Function<T, R> then) {
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
     * Runs {@code work}, which changes nothing, on the database's thread, without SQLite's lock for writers. Never empty
     * unless {@code work} gives null. Errors: {@link StoreException}.
     */
    public <T> Mono<T> read(Work<T> work) {
        return onThread(() -> {
            requireOpen();
            return transaction(connection, "BEGIN", work);
        });
    }

    public Path file() {
        return file;
    }

    /** Never emits; fails with {@link StoreException.Held} when another process took the lease. */
    public Mono<Void> lost() {
        return lost.asMono().flatMap(Mono::error);
    }

    /** Gives the lease back and closes the file: nothing is changed here any more. Completes empty; again: at once. */
    public Mono<Void> release() {
        return Mono.<Void>fromCallable(() -> {
            giveUp();
            return null;
        })
                .subscribeOn(scheduler)
                .onErrorComplete(RejectedExecutionException.class)
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed));
    }

    /** Lets the work under way end, gives the lease back and closes the file. Completes empty. */
    public Mono<Void> close() {
        return release().then(scheduler.disposeGracefully());
    }

    private Mono<SqliteDatabase> begin(Duration wait) {
        long asks = Math.max(0, wait.dividedBy(ASK_AGAIN));
        return Mono.fromCallable(() -> {
            take();
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

    private void take() throws SQLException, IOException {
        transaction(connection, own -> {
            SqliteSchema.refuseForeign(own);
            lease.take(own);
            SqliteSchema.check(own);
            schema.migrate(own);
            return this;
        });
        // A restore during the wait puts another file in its place.
        if (!Objects.equals(identity, identity(file))) {
            throw new SQLException("it was replaced meanwhile (expected: nobody touches it; start again)");
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
        } finally {
            connection.close();
        }
    }

    /** Prolongs the lease, without waiting for the disk: only living processes ask for it. */
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

    /** SQLite takes this between transactions only. */
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

    /** Runs {@code work} in a transaction that no other process writes during. Blocks. */
    public static <T> T transaction(Connection connection, Work<T> work) throws SQLException {
        return transaction(connection, "BEGIN IMMEDIATE", work);
    }

    private static <T> T transaction(Connection connection, String begin, Work<T> work) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // Not through the driver's autocommit: that begins the next transaction, with its lock, right after each.
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

    /** SQLite has rolled back by itself after some failures, as of a full disk. */
    private static void rollBack(Statement statement, Exception failed) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException none) {
            failed.addSuppressed(none);
        }
    }

    /** Makes the folder of {@code file}, for its owner alone. Blocks. */
    public static void makeFolder(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /** Makes {@code file}, for its owner alone: SQLite would make it readable for all; its journal takes the same mode. Blocks. */
    public static void makeFile(Path file) throws IOException {
        if (Files.notExists(file)) {
            Files.createFile(file,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
    }

    /** A connection for {@link #transaction}; the caller closes it. */
    public static Connection connect(Path file) throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(JournalMode.WAL);
        // WAL's own default would lose the last commits at a power cut.
        config.setSynchronous(SynchronousMode.FULL);
        config.enforceForeignKeys(true);
        config.setBusyTimeout((int) BUSY_WAIT.toMillis());
        return config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
    }
}
