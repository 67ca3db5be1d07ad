package dev.culvert.launcher.run;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** What a command does. Cold: nothing happens before it is subscribed to. */
public interface Task {
    /** Runs to the end and gives the exit code. Errors are for {@code Failures}. Never empty. */
    Mono<Integer> run();

    /** A task that goes on until it is stopped. */
    interface LongRunning extends Task {
        /** Drains what is running, if it is; after that the process may end. Completes empty. */
        Mono<Void> stop(Duration grace);
    }
}
