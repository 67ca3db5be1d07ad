package dev.culvert.http.net;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a part of the tasks in one pass of an event loop, and the others in later ones: for work that a peer
 * can have ready in any amount. A pass ends this work after {@link #TASKS} tasks or {@link #TIME_NANOS},
 * whichever comes first, and the loop serves its sockets, so that others do not wait for all of it. Source
 * addresses take turns; the tasks of one keep their order. The tasks' owners bound their number. Called on
 * the loop.
 */
public final class PassShare implements Runnable {
    public static final int TASKS = 16;
    /** About one handshake of TLS, or 30 requests. */
    static final long TIME_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final Logger log = LoggerFactory.getLogger(PassShare.class);
    private static final FastThreadLocal<PassShare> OF_THREAD = new FastThreadLocal<>();
    /** A delayed task runs after the next poll of the sockets; a task that is due now may run before it. */
    private static final long NEXT_PASS_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    private final EventLoop loop;
    /** The tasks by source; the source whose turn is next comes first. */
    private final Map<SourceAddress, ArrayDeque<Runnable>> waiting = new LinkedHashMap<>();
    private boolean due;

    private PassShare(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs {@code task} in a pass behind those of its source that came before. */
    public static void run(EventLoop loop, SourceAddress source, Runnable task) {
        PassShare ofThread = OF_THREAD.get();
        if (ofThread == null) {
            ofThread = new PassShare(loop);
            OF_THREAD.set(ofThread);
        }
        if (ofThread.loop.equals(loop)) {
            ofThread.add(source, task);
        } else {
            loop.execute(task); // the thread runs several loops, as in tests without sockets
        }
    }

    private void add(SourceAddress source, Runnable task) {
        waiting.computeIfAbsent(source, any -> new ArrayDeque<>(2)).add(task);
        if (!due) {
            due = true;
            loop.execute(this);
        }
    }

    @Override
    public void run() {
        long began = System.nanoTime();
        int ran = 0;
        do {
            try {
                next().run();
            } catch (RuntimeException | Error e) {
                log.atError().setCause(e).log("a task of a pass failed");
            }
            ran++;
        } while (!waiting.isEmpty() && ran < TASKS && System.nanoTime() - began < TIME_NANOS);
        due = !waiting.isEmpty();
        if (due) {
            loop.schedule(this, NEXT_PASS_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    private Runnable next() {
        Map.Entry<SourceAddress, ArrayDeque<Runnable>> first = waiting.entrySet().iterator().next();
        SourceAddress source = first.getKey();
        ArrayDeque<Runnable> ofSource = first.getValue();
        Runnable next = ofSource.remove();
        waiting.remove(source);
        if (!ofSource.isEmpty()) {
            waiting.put(source, ofSource); // to the end of the turn order
        }
        return next;
    }
}
