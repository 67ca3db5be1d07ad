package dev.culvert.relay.listen;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One deadline that moves often and is met rarely: moving it later costs a field write, since the scheduled task asks again
 * when it fires. Belongs to one event loop.
 */
public final class Deadline {
    private final EventLoop loop;
    private @Nullable Runnable action;
    private long atNanos;
    private @Nullable ScheduledFuture<?> task;
    private long taskNanos;

    public Deadline(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs {@code then} after {@code wait}, instead of what was set before. */
    public void set(Duration wait, Runnable then) {
        action = then;
        atNanos = System.nanoTime() + wait.toNanos();
        if (task == null || atNanos - taskNanos < 0) {
            schedule();
        }
    }

    /** Runs nothing. */
    public void clear() {
        action = null;
    }

    /** Clears it for good. */
    public void close() {
        action = null;
        if (task != null) {
            task.cancel(false);
            task = null;
        }
    }

    private void schedule() {
        if (task != null) {
            task.cancel(false);
        }
        taskNanos = atNanos;
        task = loop.schedule(this::fire, atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void fire() {
        task = null;
        Runnable due = action;
        if (due == null) {
            return;
        }
        if (atNanos - System.nanoTime() > 0) {
            schedule();
        } else {
            action = null;
            due.run();
        }
    }
}
