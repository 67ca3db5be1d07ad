package dev.culvert.appproxy.git;

import dev.culvert.handlers.body.Patience;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/**
 * Measures how long a Git process has waited for its caller to send or to read bytes. Callable from any
 * thread.
 */
final class CallerWait {
    private final Scheduler clock;
    private final Patience patience = new Patience();
    private boolean waiting;
    private long since;

    CallerWait(Scheduler clock) {
        this.clock = clock;
    }

    /** Starts a wait for the caller. */
    synchronized void begins() {
        if (!waiting) {
            waiting = true;
            since = clock.now(TimeUnit.NANOSECONDS);
        }
    }

    /** Ends a wait: the caller has sent or read {@code bytes}. */
    synchronized void ends(long bytes) {
        if (waiting) {
            patience.waited(clock.now(TimeUnit.NANOSECONDS) - since);
            waiting = false;
        }
        patience.moved(bytes);
    }

    /** The rest of the wait, in nanoseconds; negative when it is used up. */
    synchronized long leftNanos() {
        return patience.leftNanos() - (waiting ? clock.now(TimeUnit.NANOSECONDS) - since : 0);
    }
}
