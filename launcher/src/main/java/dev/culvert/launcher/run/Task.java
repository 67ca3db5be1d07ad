package dev.culvert.launcher.run;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** The work of a command. Cold: it starts with the subscription. */
public interface Task {
    /** Runs to the end and emits the exit code. {@code Failures} reports errors. Never empty. */
    Mono<Integer> run();

    /** A task that runs until it is stopped. */
    interface LongRunning extends Task {
        /** Drains the task if it runs. After that the process may end. Completes empty. */
        Mono<Void> stop(Duration grace);
    }
}
