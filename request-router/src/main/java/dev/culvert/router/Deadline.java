package dev.culvert.router;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The one point in time that a connection waits for. Moving it later is two assignments: the loop's timer looks again
 * when it fires. Everything happens on the loop.
 */
final class Deadline {
    private final EventLoop loop;
    private long dueNanos;
    private @Nullable Runnable action;
    private long timerNanos;
    private @Nullable ScheduledFuture<?> timer;

    Deadline(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs {@code action} after {@code timeout}, and not what was set before. */
    void set(Duration timeout, Runnable action) {
        this.action = action;
        dueNanos = System.nanoTime() + timeout.toNanos();
        if (timer != null && dueNanos - timerNanos < 0) {
            timer.cancel(false);
            timer = null;
        }
        if (timer == null) {
            schedule();
        }
    }

    /** Runs nothing any more, until it is set again. */
    void clear() {
        action = null;
    }

    /** Clears it and gives the loop's timer back. */
    void stop() {
        clear();
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private void schedule() {
        timerNanos = dueNanos;
        timer = loop.schedule(this::fired, Math.max(0, dueNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private void fired() {
        timer = null;
        Runnable due = action;
        if (due == null) {
            return;
        }
        if (dueNanos - System.nanoTime() > 0) {
            schedule();
        } else {
            action = null;
            due.run();
        }
    }
}
