package dev.culvert.inbox.store;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The one thread that reads and writes the files of large webhooks. They give way to small ones: when a commit of those took
 * long, the thread rests after each piece, twice as long as the time before, until commits are quick again; whoever sends or
 * takes a large one is slowed by as much. Safe for use by any thread.
 */
public final class BulkThread implements Executor {
    private static final int MAX_QUEUED = 10_000;
    /** Commits take a fraction of this on a machine that has time, and a disk that does. */
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long FIRST_REST = TimeUnit.MICROSECONDS.toNanos(500);
    /** Even so large webhooks of 25 MiB each, twenty at once, pass in less than two minutes. */
    static final long LONGEST_REST = TimeUnit.MILLISECONDS.toNanos(8);

    private final ThreadPoolExecutor thread;
    private final AtomicLong slowest = new AtomicLong();
    /** Of the thread. */
    private long rest;

    BulkThread() {
        thread = new ThreadPoolExecutor(1, 1, 30, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_QUEUED),
                Thread.ofPlatform().name("culvert-inbox-file").daemon().factory());
        thread.allowCoreThreadTimeOut(true);
    }

    /** Errors: RejectedExecutionException when too much waits. */
    @Override
    public void execute(Runnable piece) {
        thread.execute(() -> {
            piece.run();
            rest = rest(rest, slowest.getAndSet(0));
            if (rest > 0) {
                LockSupport.parkNanos(rest);
            }
        });
    }

    /** The rest after a piece, in nanoseconds: after that of the piece before, and the slowest commit since then. */
    static long rest(long before, long slowest) {
        if (slowest > SLOW) {
            return Math.clamp(before * 2, FIRST_REST, LONGEST_REST);
        }
        return before <= FIRST_REST ? 0 : before / 2;
    }

    /** A commit of small webhooks took so long. */
    void committed(long nanos) {
        slowest.accumulateAndGet(nanos, Math::max);
    }

    void close() {
        thread.shutdown();
    }
}
