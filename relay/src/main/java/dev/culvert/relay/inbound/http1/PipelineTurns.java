package dev.culvert.relay.inbound.http1;

import dev.culvert.http.net.PassShare;
import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Limits the pipelined requests that one source address has in progress on an event loop, so that a caller
 * that asks ahead on many connections fills no upstream. A connection asks for a turn when a request is ready
 * behind the one that ended; the connections of one source wait for each other. A turn lasts until it is
 * ended, or for {@link #TIME_NANOS} while others wait. Bounded by the open connections, each of which has at
 * most one turn and ends it when it closes. Belongs to its loop.
 */
final class PipelineTurns {
    static final int MAX = 4;
    /** A slow response holds up the other connections of its source for this long. */
    static final long TIME_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final FastThreadLocal<PipelineTurns> OF_THREAD = new FastThreadLocal<>();

    private final EventLoop loop;
    private final Map<SourceAddress, Source> sources = new HashMap<>();

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

    /** Runs {@code begin}, later, with a turn, unless the turn is ended before. The caller ends it. */
    Turn ask(SourceAddress source, Runnable begin) {
        Source ofSource = sources.computeIfAbsent(source, Source::new);
        var turn = new Turn(ofSource, begin);
        ofSource.waiting.add(turn);
        ofSource.grant();
        return turn;
    }

    /** The number of turns that wait or last. */
    int size() {
        return sources.values()
                .stream()
                .mapToInt(source -> source.waiting.size() + source.lasting.size())
                .sum();
    }

    /**
     * The turn of one request.
     *
     * <pre>
     *  waiting ──granted──► lasting ──end, or its time is over while others wait──► over
     *     └──────end─────────────────────────────────────────────────────────────────▲
     * </pre>
     */
    static final class Turn {
        private final Source source;
        private final Runnable begin;
        private long granted;
        private boolean ended;

        private Turn(Source source, Runnable begin) {
            this.source = source;
            this.begin = begin;
        }

        private void begin() {
            if (!ended) {
                begin.run();
            }
        }

        /** Ends the turn, or its wait. Again: nothing. */
        void end() {
            ended = true;
            source.end(this);
        }
    }

    /** The turns of one source. */
    private final class Source {
        private final SourceAddress address;
        private final LinkedHashSet<Turn> waiting = new LinkedHashSet<>();
        /** The oldest comes first. */
        private final ArrayDeque<Turn> lasting = new ArrayDeque<>(MAX);
        private boolean timed;

        private Source(SourceAddress address) {
            this.address = address;
        }

        private void grant() {
            while (lasting.size() < MAX && !waiting.isEmpty()) {
                Turn next = waiting.removeFirst();
                next.granted = System.nanoTime();
                lasting.add(next);
                PassShare.run(loop, address, next::begin);
            }
            if (!waiting.isEmpty() && !timed) {
                timed = true;
                loop.schedule(this::endLate, lasting.getFirst().granted + TIME_NANOS - System.nanoTime(),
                        TimeUnit.NANOSECONDS);
            }
        }

        /** Ends the turns whose time is over, for those that wait. */
        private void endLate() {
            timed = false;
            long now = System.nanoTime();
            while (!waiting.isEmpty() && !lasting.isEmpty()
                    && now - lasting.getFirst().granted - TIME_NANOS >= 0) {
                lasting.removeFirst();
                grant();
            }
            grant();
        }

        private void end(Turn turn) {
            if (!waiting.remove(turn) && lasting.remove(turn)) {
                grant();
            }
            if (lasting.isEmpty()) { // then nothing waits
                sources.remove(address, this);
            }
        }
    }
}
