package dev.culvert.relay.inbound.http1;

import dev.culvert.http.net.PassShare;
import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the pipelined requests that one source address has in progress on an event loop, so that a caller
 * that asks ahead on many connections fills no upstream. A connection asks for a turn when a request is ready
 * behind the one that ended; the connections of one source wait for each other. Bounded by the connections,
 * each of which asks once. Belongs to its loop.
 */
final class PipelineTurns {
    static final int MOST = 4;

    private static final FastThreadLocal<PipelineTurns> OF_THREAD = new FastThreadLocal<>();

    private final EventLoop loop;
    private final Map<SourceAddress, Turns> sources = new HashMap<>();

    private static final class Turns {
        private int taken;
        private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    }

    private PipelineTurns(EventLoop loop) {
        this.loop = loop;
    }

    /** Returns the turns of a loop. Called on it. */
    static PipelineTurns of(EventLoop loop) {
        PipelineTurns ofThread = OF_THREAD.get();
        if (ofThread == null || !ofThread.loop.equals(loop)) { // a thread has several loops in tests only
            ofThread = new PipelineTurns(loop);
            OF_THREAD.set(ofThread);
        }
        return ofThread;
    }

    /** Runs {@code begin}, later, with a turn, which the caller ends by {@link #over}. */
    void ask(SourceAddress source, Runnable begin) {
        Turns turns = sources.computeIfAbsent(source, any -> new Turns());
        if (turns.taken < MOST) {
            turns.taken++;
            PassShare.run(loop, source, begin);
        } else {
            turns.waiting.add(begin);
        }
    }

    /** Ends a turn. */
    void over(SourceAddress source) {
        Turns turns = sources.get(source);
        if (turns == null) {
            throw new IllegalStateException("a turn ended that was not taken");
        }
        Runnable next = turns.waiting.poll();
        if (next != null) {
            PassShare.run(loop, source, next);
        } else {
            turns.taken--;
            if (turns.taken == 0) {
                sources.remove(source);
            }
        }
    }
}
