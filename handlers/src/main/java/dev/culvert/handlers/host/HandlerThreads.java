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
 * The threads of one handler: it may block them all and nobody else waits. They appear with the first work and leave after 30 s
 * without any. A call that is cancelled, or times out, interrupts what it runs.
 */
final class HandlerThreads {
    /** A call has few tasks waiting at a time: to be called, to be asked for more, a body's piece, its own work. */
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

    /** The same threads for streams that queue: what they were given they run, so that one that is cancelled clears its queue. */
    Scheduler steady() {
        return new Steady(scheduler);
    }

    int busy() {
        return pool.getActiveCount();
    }

    /** Interrupts what still runs. */
    void stop() {
        pool.shutdownNow();
        scheduler.dispose();
    }

    /** Takes nothing back. */
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
                    // what was given runs
                }
            };
        }
    }
}
