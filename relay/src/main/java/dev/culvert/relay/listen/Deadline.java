package dev.culvert.relay.listen;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A deadline that moves often and expires rarely. Moving it later costs one field write, since the scheduled
 * task checks the deadline again when it fires. Belongs to one event loop.
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

    /** Sets the deadline: {@code then} runs after {@code wait}. Replaces the previous deadline. */
    public void set(Duration wait, Runnable then) {
        action = then;
        atNanos = System.nanoTime() + wait.toNanos();
        if (task == null || atNanos - taskNanos < 0) {
            schedule();
        }
    }

    /** Cancels the present deadline. A new one can be set. */
    public void clear() {
        action = null;
    }

    /** Cancels the deadline and its task. No deadline may be set afterwards. */
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
