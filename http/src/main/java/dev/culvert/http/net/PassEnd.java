package dev.culvert.http.net;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs what is left for the end of an event loop's present pass, by one task of the loop: hundreds of
 * connections have something to flush in a pass. Called on the loop.
 */
public final class PassEnd implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(PassEnd.class);
    private static final FastThreadLocal<PassEnd> OF_THREAD = new FastThreadLocal<>();

    private final EventLoop loop;
    private List<Runnable> next = new ArrayList<>();
    private List<Runnable> running = new ArrayList<>();

    private PassEnd(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs {@code task} at the end of the pass, behind those that came before. */
    public static void run(EventLoop loop, Runnable task) {
        PassEnd ofThread = OF_THREAD.get();
        if (ofThread == null) {
            ofThread = new PassEnd(loop);
            OF_THREAD.set(ofThread);
        }
        if (ofThread.loop.equals(loop)) {
            ofThread.add(task);
        } else {
            loop.execute(task); // the thread runs several loops, as in tests without sockets
        }
    }

    private void add(Runnable task) {
        if (next.isEmpty()) {
            loop.execute(this);
        }
        next.add(task);
    }

    @Override
    public void run() {
        List<Runnable> tasks = next;
        next = running;
        running = tasks;
        for (Runnable task : tasks) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log.atError().setCause(e).log("a task at the end of a pass failed");
            }
        }
        tasks.clear();
    }
}
