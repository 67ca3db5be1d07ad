package dev.culvert.handlers.host;

import dev.culvert.handlers.spi.HandlerLimits;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The threads of one handler. If it blocks them all, no other handler is delayed. Threads are created with
 * the first work and end after 30 s without work. A call that is cancelled or times out interrupts its
 * running code.
 */
final class HandlerThreads {
    /**
     * The number of tasks of one call that may wait: its start, demand, a part of a body, and its own work.
     */
    private static final int TASKS_PER_CALL = 8;

    private final ThreadPoolExecutor pool;
    private final Scheduler scheduler;

    HandlerThreads(String name, HandlerLimits limits) {
        pool = new ThreadPoolExecutor(limits.threads(), limits.threads(), 30, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(TASKS_PER_CALL * limits.maxConcurrent()),
                new DefaultThreadFactory("culvert-handler-" + name, true));
        pool.allowCoreThreadTimeOut(true);
        scheduler = Schedulers.fromExecutorService(pool, "culvert-handler-" + name);
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /**
     * The same threads for streams with a queue. Submitted tasks are never cancelled, so that a cancelled
     * stream clears its queue.
     */
    Scheduler steady() {
        return new Steady(scheduler);
    }

    int busy() {
        return pool.getActiveCount();
    }

    /** Interrupts running work. */
    void stop() {
        pool.shutdownNow();
        scheduler.dispose();
    }

    /** Ignores the cancellation of submitted tasks. */
    private record Steady(Scheduler threads) implements Scheduler {
        @Override
        public Disposable schedule(Runnable task) {
            return threads.schedule(task);
        }

        @Override
        public Worker createWorker() {
            return new Worker() {
                @Override
                public Disposable schedule(Runnable task) {
                    return threads.schedule(task);
                }

                @Override
                public void dispose() {
                    // submitted tasks run
                }
            };
        }
    }
}
