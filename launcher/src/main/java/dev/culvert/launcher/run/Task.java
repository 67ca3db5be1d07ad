package dev.culvert.launcher.run;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** The work of a command. {@code Failures} reports what it throws or emits as an error. */
public sealed interface Task {
    /**
     * A task that prints, or asks over HTTP, and ends. It loads no Netty, Reactor or logging framework, and
     * no YAML library unless YAML is asked for, because they take longer to load than it takes to run.
     */
    non-sealed interface Brief extends Task {
        /** Runs to the end on the calling thread and returns the exit code. */
        int run();
    }

    /** A task that uses the libraries of the services. Cold: it starts with the subscription. */
    non-sealed interface Reactive extends Task {
        /** Runs to the end and emits the exit code. Never empty. */
        Mono<Integer> run();
    }

    /** A task that runs until it is stopped. */
    interface LongRunning extends Reactive {
        /** Drains the task if it runs. After that the process may end. Completes empty. */
        Mono<Void> stop(Duration grace);
    }
}
