package dev.culvert.appproxy.git;

import dev.culvert.handlers.body.Patience;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/** How long a Git process has waited for its caller, to send or to take bytes. Safe for use by any thread. */
final class CallerWait {
    private final Scheduler clock;
    private final Patience patience = new Patience();
    private boolean waiting;
    private long since;

    CallerWait(Scheduler clock) {
        this.clock = clock;
    }

    /** From now on the caller is waited for. */
    synchronized void begins() {
        if (!waiting) {
            waiting = true;
            since = clock.now(TimeUnit.NANOSECONDS);
        }
    }

    /** The caller sent or took this much. */
    synchronized void ends(long bytes) {
        if (waiting) {
            patience.waited(clock.now(TimeUnit.NANOSECONDS) - since);
            waiting = false;
        }
        patience.moved(bytes);
    }

    /** How long the caller may still be waited for; below zero when it is over. */
    synchronized long leftNanos() {
        return patience.leftNanos() - (waiting ? clock.now(TimeUnit.NANOSECONDS) - since : 0);
    }
}
