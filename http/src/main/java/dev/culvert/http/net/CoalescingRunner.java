package dev.culvert.http.net;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Coalesces requests to run work. Each key runs at most once at a time. Requests that arrive during a run
 * cause one more run after a pause. Holds one entry for each running key. Safe for use by any thread.
 */
public final class CoalescingRunner {
    private static final Logger log = LoggerFactory.getLogger(CoalescingRunner.class);

    private final ConcurrentHashMap<String, Boolean> askedAgain = new ConcurrentHashMap<>();
    private final Duration pause;

    /** @param pause the time between two runs of a key */
    public CoalescingRunner(Duration pause) {
        this.pause = pause;
    }

    /**
     * Requests a run of {@code work} and returns at once. Errors are only logged at DEBUG, so the work should
     * report its own.
     */
    public void run(String key, Mono<Void> work) {
        boolean idle = !askedAgain.merge(key, false, (running, asked) -> true);
        if (idle) {
            go(key, work);
        }
    }

    /** The number of keys that run or pause now. */
    public int running() {
        return askedAgain.size();
    }

    private void go(String key, Mono<Void> work) {
        work.onErrorResume(failed -> {
            log.atDebug().setCause(failed).addKeyValue("key", key).log("background task failed");
            return Mono.empty();
        }).then(Mono.delay(pause)).subscribe(paused -> finished(key, work));
    }

    private void finished(String key, Mono<Void> work) {
        // no request arrived during the run: the entry is removed
        if (askedAgain.computeIfPresent(key, (same, again) -> again ? Boolean.FALSE : null) != null) {
            go(key, work);
        }
    }
}
