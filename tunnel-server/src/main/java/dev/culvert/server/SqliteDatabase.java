package dev.culvert.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.LockingMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * One SQLite file with one connection, used by one thread of its own: all blocking database work of the server happens
 * here. The file is locked against other processes, because its content is also held in memory.
 */
final class SqliteDatabase {
    private static final int IDLE_THREAD_SECONDS = 60;

    private final Path file;
    private final Scheduler scheduler;
    private final Connection connection;

    private SqliteDatabase(Path file, Scheduler scheduler, Connection connection) {
        this.file = file;
        this.scheduler = scheduler;
        this.connection = connection;
    }

    /** Work in a transaction: committed when it returns, rolled back when it throws. */
    @FunctionalInterface
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /**
     * Opens, or makes, {@code file} in its newest schema, with the folder around it. Errors: {@link
     * StoreException.Failed}, also when another process has it.
     */
    static Mono<SqliteDatabase> open(Path file, StoreLimits limits) {
        return Mono.defer(() -> {
            Scheduler scheduler = Schedulers.newBoundedElastic(1, limits.maxQueued(), "culvert-store",
                    IDLE_THREAD_SECONDS, true);
            return Mono.fromCallable(() -> {
                makeFolder(file);
                makeFile(file);
                Connection connection = connect(file, limits.lockTimeout());
                return new SqliteDatabase(file, scheduler, connection);
            })
                    .subscribeOn(scheduler)
                    .doOnError(failed -> scheduler.dispose())
                    .onErrorMap(SQLException.class, failed -> DatabaseTrouble.of(file, failed))
                    .onErrorMap(IOException.class, failed -> DatabaseTrouble.of(file, failed));
        });
    }

    /**
     * Runs {@code work} in a transaction on the database's thread, then {@code then} with its result on the same
     * thread. Cancelling drops work that has not begun. Errors: {@link StoreException}.
     */
    <T, R> Mono<R> transact(Work<T> work, Function<T, R> then) {
        return Mono.fromCallable(() -> then.apply(commit(work)))
                .subscribeOn(scheduler)
                .onErrorMap(SQLException.class, failed -> DatabaseTrouble.of(file, failed))
                .onErrorMap(RejectedExecutionException.class, full -> new StoreException.Busy(
                        "the database has too much to do, or is closed; try again later"));
    }

    /** Lets the work under way end, then closes the file. Completes empty. */
    Mono<Void> close() {
        return Mono.<Void>fromCallable(() -> {
            connection.close();
            return null;
        })
                .subscribeOn(scheduler)
                .onErrorComplete(RejectedExecutionException.class)
                .onErrorMap(SQLException.class, failed -> DatabaseTrouble.of(file, failed))
                .then(scheduler.disposeGracefully());
    }

    private <T> T commit(Work<T> work) throws SQLException {
        try {
            T result = work.run(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException failed) {
            connection.rollback();
            throw failed;
        }
    }

    private static void makeFolder(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /** SQLite would make it readable for all; its journal takes the same mode. Hashes in it are keys of enrolment. */
    private static void makeFile(Path file) throws IOException {
        if (Files.notExists(file)) {
            Files.createFile(file,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
    }

    private static Connection connect(Path file, Duration lockTimeout) throws SQLException {
        var config = new SQLiteConfig();
        config.setLockingMode(LockingMode.EXCLUSIVE);
        config.setJournalMode(JournalMode.WAL);
        // WAL's own default would lose the last commits at a power cut.
        config.setSynchronous(SynchronousMode.FULL);
        config.setTransactionMode(TransactionMode.IMMEDIATE);
        config.enforceForeignKeys(true);
        config.setBusyTimeout((int) lockTimeout.toMillis());
        Connection connection = config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
        try {
            connection.setAutoCommit(false);
            SqliteSchema.migrate(connection);
            connection.commit();
            return connection;
        } catch (SQLException failed) {
            connection.close();
            throw failed;
        }
    }
}
