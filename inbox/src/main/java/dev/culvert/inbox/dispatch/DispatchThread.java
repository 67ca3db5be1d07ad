package dev.culvert.inbox.dispatch;

import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that owns the dispatcher's state, with its timer. Tasks submitted after its end are dropped. */
final class DispatchThread {
    private static final Logger log = LoggerFactory.getLogger(DispatchThread.class);

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("culvert-inbox-dispatch").daemon().factory());
    private @Nullable ScheduledFuture<?> alarm;
    private long alarmAt = Long.MAX_VALUE;

    /** Runs a task on the thread. Any thread. */
    void run(Runnable task) {
        try {
            thread.execute(() -> guarded(task));
        } catch (RejectedExecutionException stopped) {
            // Undelivered webhooks are on disk.
        }
    }

    /** Runs a task on the thread after a delay. Any thread. */
    void later(Runnable task, long millis) {
        try {
            thread.schedule(() -> guarded(task), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            // As above.
        }
    }

    /** Runs {@code task} at {@code at}, unless an earlier alarm runs it before. Call on the thread. */
    void alarm(long at, long now, Runnable task) {
        if (at >= alarmAt) {
            return;
        }
        ScheduledFuture<?> before = alarm;
        if (before != null) {
            before.cancel(false);
        }
        alarmAt = at;
        alarm = thread.schedule(() -> guarded(() -> {
            alarmAt = Long.MAX_VALUE;
            task.run();
        }), Math.max(1, at - now), TimeUnit.MILLISECONDS);
    }

    /** Ends the thread after the tasks submitted before. */
    void close() {
        run(thread::shutdownNow);
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException bug) {
            log.atError().setCause(bug).log("dispatch of webhooks failed");
        }
    }
}
