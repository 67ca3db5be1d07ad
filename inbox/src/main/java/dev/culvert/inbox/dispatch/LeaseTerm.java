package dev.culvert.inbox.dispatch;

import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.CommitThread.Job;
import dev.culvert.store.StoreException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A term for which this process holds the lease. Actions begun in a term count only in it. Belongs to the
 * dispatcher's thread, except the callbacks that {@link #only} returns.
 */
final class LeaseTerm {
    private static final Logger log = LoggerFactory.getLogger(LeaseTerm.class);

    private final CommitThread commits;
    private final DispatchThread thread;
    private final Runnable lost;
    private long number;

    /** @param lost runs when a change is refused because another process has the lease */
    LeaseTerm(CommitThread commits, DispatchThread thread, Runnable lost) {
        this.commits = commits;
        this.thread = thread;
        this.lost = lost;
    }

    /** Starts the next term, or ends the present one. */
    void next() {
        number++;
    }

    /**
     * Wraps {@code task} for any thread: it runs on the dispatcher's thread, if this term still lasts then.
     */
    Runnable only(Runnable task) {
        long of = number;
        return () -> thread.run(() -> {
            if (of == number) {
                task.run();
            }
        });
    }

    /** Wraps {@code task} with a value, as {@link #only(Runnable)}. */
    <T> Consumer<T> only(Consumer<T> task) {
        long of = number;
        return value -> thread.run(() -> {
            if (of == number) {
                task.accept(value);
            }
        });
    }

    /**
     * Changes the database, if this term lasts. {@code otherwise} runs if the change fails during the term.
     */
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
