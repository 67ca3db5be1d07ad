package dev.culvert.inbox.dispatch;

import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.CommitThread.Job;
import dev.culvert.store.StoreException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time for which this process holds the lease: what was begun in it counts in it alone. Of the dispatcher's thread, but for
 * what {@link #only} gives.
 */
final class LeaseTerm {
    private static final Logger log = LoggerFactory.getLogger(LeaseTerm.class);

    private final CommitThread commits;
    private final DispatchThread thread;
    private final Runnable lost;
    private long number;

    /** @param lost run when a change is refused, as another process has the lease */
    LeaseTerm(CommitThread commits, DispatchThread thread, Runnable lost) {
        this.commits = commits;
        this.thread = thread;
        this.lost = lost;
    }

    /** Another one begins, or this one has ended. */
    void next() {
        number++;
    }

    /** {@code task} for any thread: is run on the dispatcher's, if this tenure still lasts then. */
    Runnable only(Runnable task) {
        long of = number;
        return () -> thread.run(() -> {
            if (of == number) {
                task.run();
            }
        });
    }

    /** {@code task} with a value, as {@link #only(Runnable)}. */
    <T> Consumer<T> only(Consumer<T> task) {
        long of = number;
        return value -> thread.run(() -> {
            if (of == number) {
                task.accept(value);
            }
        });
    }

    /** Changes the database, if this tenure lasts; {@code otherwise} when that fails although it does. */
    <T> void write(Job<T> job, long bytes, Consumer<T> done, Runnable otherwise) {
        commits.submit(job, bytes, only(done), only((StoreException failed) -> {
            if (failed instanceof StoreException.Held) {
                log.atWarn()
                        .addKeyValue("reason", failed.getMessage())
                        .log("webhooks are delivered by another process");
                lost.run();
            } else {
                otherwise.run();
            }
        }));
    }
}
