package dev.culvert.http.net;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs at most {@link #TASKS} tasks in one pass of an event loop, and the others in later ones, in their
 * order: for work that a peer can have ready in any amount. Between two passes the loop serves its sockets,
 * so that others do not wait for all of it. The tasks' owners bound their number. Called on the loop.
 */
public final class PassShare implements Runnable {
    public static final int TASKS = 16;

    private static final Logger log = LoggerFactory.getLogger(PassShare.class);
    private static final FastThreadLocal<PassShare> OF_THREAD = new FastThreadLocal<>();
    /** A delayed task runs after the next poll of the sockets; a task that is due now may run before it. */
    private static final long NEXT_PASS_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    private final EventLoop loop;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

    private PassShare(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs {@code task} in a pass behind those that came before. */
    public static void run(EventLoop loop, Runnable task) {
        PassShare ofThread = OF_THREAD.get();
        if (ofThread == null) {
            ofThread = new PassShare(loop);
            OF_THREAD.set(ofThread);
        }
        if (ofThread.loop.equals(loop)) {
            ofThread.add(task);
        } else {
            loop.execute(task); // the thread runs several loops, as in tests without sockets
        }
    }

    private void add(Runnable task) {
        if (waiting.isEmpty()) {
            loop.execute(this);
        }
        waiting.add(task);
    }

    @Override
    public void run() {
        for (int i = Math.min(TASKS, waiting.size()); i > 0; i--) {
            try {
                waiting.element().run();
            } catch (RuntimeException | Error e) {
                log.atError().setCause(e).log("a task of a pass failed");
            } finally {
                waiting.remove(); // behind the task, so that what it adds does not schedule this again
            }
        }
        if (!waiting.isEmpty()) {
            loop.schedule(this, NEXT_PASS_NANOS, TimeUnit.NANOSECONDS);
        }
    }
}
