package dev.culvert.inbox.store;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The single thread that reads and writes the files of large webhooks. It yields to small webhooks: after a
 * slow commit the thread pauses after each piece, doubling the pause until commits are fast again. Senders
 * and receivers of large webhooks are slowed by as much. Safe for use by any thread.
 */
public final class BulkThread implements Executor {
    private static final int MAX_QUEUED = 10_000;
    /** A commit above this is slow. On an idle machine and disk, commits take a fraction of it. */
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long FIRST_REST = TimeUnit.MICROSECONDS.toNanos(500);
    /**
     * The maximum pause. With it, twenty concurrent webhooks of 25 MiB each still pass in less than two
     * minutes.
     */
    static final long LONGEST_REST = TimeUnit.MILLISECONDS.toNanos(8);

    private final ThreadPoolExecutor thread;
    private final AtomicLong slowest = new AtomicLong();
    /** The present pause in nanoseconds. Belongs to the thread. */
    private long rest;

    BulkThread() {
        thread = new ThreadPoolExecutor(1, 1, 30, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_QUEUED),
                Thread.ofPlatform().name("culvert-inbox-file").daemon().factory());
        thread.allowCoreThreadTimeOut(true);
    }

    /** Queues a piece of work. Errors: RejectedExecutionException if the queue is full. */
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

    /**
     * Returns the pause after a piece, in nanoseconds, from the previous pause and the slowest commit since
     * then.
     */
    static long rest(long before, long slowest) {
        if (slowest > SLOW) {
            return Math.clamp(before * 2, FIRST_REST, LONGEST_REST);
        }
        return before <= FIRST_REST ? 0 : before / 2;
    }

    /** Records the duration of a commit of small webhooks. */
    void committed(long nanos) {
        slowest.accumulateAndGet(nanos, Math::max);
    }

    void close() {
        thread.shutdown();
    }
}
