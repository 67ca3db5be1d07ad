package dev.culvert.launcher.follow;

import dev.culvert.config.Reason;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.AdminOptions;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Reads a stream of events, and asks for it again whenever it ends. What it tells a person goes to standard
 * error. Belongs to one thread.
 */
final class EventFollower {
    /** Three of the server's comments were missed. */
    private static final Duration SILENCE = Duration.ofSeconds(45);
    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final int MAX_PAUSES = 10;

    private final AdminClient api;
    private final String path;
    private final Duration pause;
    private final Predicate<StreamEvent> shown;
    private final EventReader reader = new EventReader();
    private boolean reached;
    private boolean lost;
    private boolean unread;
    private int failures;

    /**
     * @param path the stream's path below {@code /api/v1}
     * @param pause the time before a lost server is asked again; it grows to ten times that
     * @param shown receives each event; false: nobody reads what it prints any more
     */
    EventFollower(AdminClient api, String path, Duration pause, Predicate<StreamEvent> shown) {
        this.api = api;
        this.path = path;
        this.pause = pause;
        this.shown = shown;
    }

    /**
     * Follows until nobody reads the output, or the server refuses. Returns the exit code. A server that
     * can't be reached at first is {@link dev.culvert.launcher.admin.AdminUnreachable}.
     */
    int run() {
        while (true) {
            String reason;
            try {
                AdminClient.Answer answer = ask();
                if (unread) {
                    return ExitCode.DONE;
                }
                if (!answer.ok() && (!reached || answer.status() / 100 != 5)) {
                    System.err.println("culvert: " + answer.problem());
                    return AdminOptions.exitCode(answer.status());
                }
                reason = answer.ok() ? "it ended the stream" : answer.problem();
            } catch (IOException e) {
                if (!reached) {
                    throw api.unreachable(e);
                }
                reason = Reason.of(e);
            }
            again(reason);
        }
    }

    private AdminClient.Answer ask() throws IOException {
        reader.begin();
        String last = reader.lastId();
        return api.follow(path, last.isEmpty() ? Map.of() : Map.of("Last-Event-ID", last), SILENCE,
                this::line);
    }

    /** Returns whether to go on. */
    private boolean line(String line) {
        if (lost) {
            System.err.println("culvert: connected again");
        }
        reached = true;
        lost = false;
        failures = 0;
        StreamEvent event = reader.read(line);
        unread = event != null && !shown.test(event);
        return !unread;
    }

    private void again(String reason) {
        if (!lost) {
            System.err.println("culvert: the server is lost, dialling again: " + reason);
            lost = true;
        }
        failures = Math.min(failures + 1, MAX_PAUSES);
        LockSupport.parkNanos(pause.multipliedBy(failures).toNanos());
    }
}
