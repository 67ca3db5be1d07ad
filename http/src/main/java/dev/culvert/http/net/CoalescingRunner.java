package dev.culvert.http.net;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Work that is asked for more often than it has to run: of each key one run at a time, and when it was asked for meanwhile,
 * once more after a pause. What is held is one entry for each key that runs. Safe for use by any thread.
 */
public final class CoalescingRunner {
    private static final Logger log = LoggerFactory.getLogger(CoalescingRunner.class);

    private final ConcurrentHashMap<String, Boolean> askedAgain = new ConcurrentHashMap<>();
    private final Duration pause;

    /** @param pause between two runs of a key */
    public CoalescingRunner(Duration pause) {
        this.pause = pause;
    }

    /** Asks for a run of {@code work}, whose errors are logged at most: it should tell of them itself. Returns at once. */
    public void run(String key, Mono<Void> work) {
        boolean idle = !askedAgain.merge(key, false, (running, asked) -> true);
        if (idle) {
            go(key, work);
        }
    }

    /** Keys that run now, or pause. */
    public int running() {
        return askedAgain.size();
    }

    private void go(String key, Mono<Void> work) {
        work.onErrorResume(failed -> {
            log.atDebug().setCause(failed).addKeyValue("key", key).log("run failed");
            return Mono.empty();
        }).then(Mono.delay(pause)).subscribe(paused -> finished(key, work));
    }

    private void finished(String key, Mono<Void> work) {
        // false: nobody asked meanwhile, the entry goes
        if (askedAgain.computeIfPresent(key, (same, again) -> again ? Boolean.FALSE : null) != null) {
            go(key, work);
        }
    }
}
