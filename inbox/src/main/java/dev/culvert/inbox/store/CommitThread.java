package dev.culvert.inbox.store;

import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The single thread that writes the database. When it is free, all waiting tasks go into one transaction, so
 * that one fsync serves many. The next tasks gather meanwhile.
 */
public final class CommitThread {
    private static final Logger log = LoggerFactory.getLogger(CommitThread.class);
    /**
     * The maximum number of tasks in a transaction, about 2 ms of work. With more, a transaction takes longer
     * than its fsync, and whoever comes meanwhile waits for all of them.
     */
    static final int MAX_BATCH = 64;
    static final long MAX_BATCH_BYTES = 4L << 20;
    static final int MAX_QUEUED = 20_000;

    private final Path file;
    private final Connection connection;
    private final Statements statements;
    private final SqliteLease lease;
    private final Clock clock;
    private final CommitListener listener;
    private final KnownSources sources;
    private final SequenceMark mark;
    private final Totals totals = new Totals();
    private final BlockingQueue<Task<?>> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean closed;
    /** The sequence number of the newest webhook that this process knows. Belongs to the thread. */
    private long known;

    /**
     * Work in a transaction with others. It refuses with a {@link StoreException} before it has changed
     * anything.
     */
    @FunctionalInterface
    public interface Job<T> {
        T run(Transaction transaction) throws SQLException;
    }

    /** A job with its callbacks. */
    private static final class Task<T> {
        final Job<T> job;
        final long bytes;
        final Consumer<T> done;
        final Consumer<StoreException> failed;
        /** The result in the transaction that is being tried. */
        private @Nullable T result;
        private @Nullable StoreException refusal;

        Task(Job<T> job, long bytes, Consumer<T> done, Consumer<StoreException> failed) {
            this.job = job;
            this.bytes = bytes;
            this.done = done;
            this.failed = failed;
        }

        void run(Transaction transaction) throws SQLException {
            result = null;
            refusal = null;
            try {
                result = job.run(transaction);
            } catch (StoreException refused) {
                refusal = refused;
            }
        }

        void tell() {
            StoreException refused = refusal;
            T made = result;
            if (refused != null) {
                failed.accept(refused);
            } else if (made != null) {
                done.accept(made);
            }
        }
    }

    /**
     * @param mark receives the sequence number of the newest committed webhook
     * @param known that number at the start
     */
    public CommitThread(Path file, Connection connection, SqliteLease lease, Clock clock,
            CommitListener listener,
            KnownSources sources, SequenceMark mark, long known) {
        this.file = file;
        this.connection = connection;
        this.statements = new Statements(connection);
        this.lease = lease;
        this.clock = clock;
        this.listener = listener;
        this.sources = sources;
        this.mark = mark;
        this.known = known;
        this.thread = Thread.ofPlatform().name("culvert-inbox").daemon().unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    /**
     * Runs {@code job} in one of the next transactions. Any thread; never blocks.
     *
     * @param bytes the approximate bytes that the job adds to the database
     * @param done called on the commit thread, after the fsync; must not block
     * @param failed called instead: on the commit thread, or at once on the caller's thread if the queue is
     *     full or closed
     */
    public <T> void submit(Job<T> job, long bytes, Consumer<T> done, Consumer<StoreException> failed) {
        if (closed || !queue.offer(new Task<>(job, bytes, done, failed))) {
            failed.accept(
                    new StoreException.Busy("the inbox has too much to do, or is closed; try again later"));
        }
    }

    /** Runs {@code job} in one of the next transactions. Emits its result on the commit thread. */
    public <T> Mono<T> transact(Job<T> job) {
        return Mono.create(sink -> submit(job, 0, sink::success, sink::error));
    }

    /** The number of waiting tasks. */
    public int queued() {
        return queue.size();
    }

    /**
     * Commits the waiting tasks, then closes the database. The future completes when that is done. Any
     * thread.
     */
    public CompletableFuture<Void> close() {
        closed = true;
        thread.interrupt();
        return ended.copy();
    }

    private void run() {
        List<Task<?>> batch = new ArrayList<>(MAX_BATCH);
        while (gather(batch)) {
            commit(batch);
            batch.clear();
        }
        try {
            statements.close();
            connection.close();
            mark.close();
            ended.complete(null);
        } catch (SQLException | IOException failed) {
            ended.completeExceptionally(DatabaseProblem.of(file, failed));
        }
    }

    /**
     * Waits for a task, and adds further waiting tasks within the bounds. Returns false if the thread is
     * closed and all tasks are done.
     */
    private boolean gather(List<Task<?>> batch) {
        Task<?> next = queue.poll();
        while (next == null && !closed) {
            try {
                next = queue.take();
            } catch (InterruptedException closing) {
                next = queue.poll();
            }
        }
        long bytes = 0;
        while (next != null) {
            batch.add(next);
            bytes += next.bytes;
            next = batch.size() < MAX_BATCH && bytes < MAX_BATCH_BYTES ? queue.poll() : null;
        }
        return !batch.isEmpty();
    }

    private void commit(List<Task<?>> batch) {
        long began = System.nanoTime();
        try {
            transact(batch);
        } catch (SQLException failed) {
            failed(batch, DatabaseProblem.of(file, failed), DatabaseProblem.isOfData(failed));
            return;
        } catch (RuntimeException | Error bug) {
            log.atError().setCause(bug).log("database change of webhooks failed");
            failed(batch, DatabaseProblem.of(file, new SQLException("the change failed: " + bug, bug)), true);
            return;
        }
        guarded(() -> listener.committed(batch.size(), System.nanoTime() - began));
        batch.forEach(task -> guarded(task::tell));
    }

    /** @param ofOne whether one task may have caused the failure; the others are then committed separately */
    private void failed(List<Task<?>> batch, StoreException told, boolean ofOne) {
        statements.forget();
        if (ofOne && batch.size() > 1) {
            batch.forEach(task -> commit(List.of(task)));
        } else {
            batch.forEach(task -> guarded(() -> task.failed.accept(told)));
        }
    }

    /** Runs a callback. Its exceptions must not end the thread that all tasks need. */
    private static void guarded(Runnable telling) {
        try {
            telling.run();
        } catch (RuntimeException | Error bug) {
            log.atError().setCause(bug).log("callback of a committed or failed change threw");
        }
    }

    private void transact(List<Task<?>> batch) throws SQLException {
        var transaction = new Transaction(statements, lease, sources, totals, clock.millis());
        List<SourceKey> others = SqliteDatabase.transaction(connection, own -> {
            try {
                List<SourceKey> found = transaction.begin(known);
                for (Task<?> task : batch) {
                    task.run(transaction);
                }
                transaction.finish();
                return found;
            } catch (Error bug) {
                throw new IllegalStateException("wrapped, so that the transaction is rolled back", bug);
            }
        });
        known = transaction.last();
        mark.write(known);
        totals.add(transaction.changed());
        if (!others.isEmpty()) {
            guarded(() -> listener.found(others));
        }
    }
}
