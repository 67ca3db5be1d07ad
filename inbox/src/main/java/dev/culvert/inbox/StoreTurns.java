package dev.culvert.inbox;

import dev.culvert.http.quota.SourceAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Webhooks that have arrived and are to be stored. Some are being stored at once; the others wait, and source addresses take turns.
 * So what one address sends does not wait behind all that another one sent. A webhook that waits still counts in {@link Intakes},
 * which bounds how many do. Safe for use by any thread.
 */
public final class StoreTurns {
    /** Webhooks being stored: those of a transaction, and those of the next one, which gather meanwhile. */
    static final int AT_ONCE = 512;

    private final long maxBytes;
    /** The address that is next comes first, and in it the webhook that came first. Guarded by this. */
    private final Map<SourceAddress, LinkedHashSet<Turn>> waiting = new LinkedHashMap<>();
    private int storing;
    private long bytes;
    private boolean closed;

    private enum State {
        WAITING, STORING, OVER
    }

    /** @param maxBytes what webhooks that are being stored take up in memory; one alone may take up more */
    StoreTurns(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** The place of one webhook. */
    public final class Turn {
        private final SourceAddress source;
        private final long cost;
        private final Consumer<Turn> begin;
        private State state = State.WAITING;

        private Turn(SourceAddress source, long cost, Consumer<Turn> begin) {
            this.source = source;
            this.cost = cost;
            this.begin = begin;
        }

        /** It is stored, refused or does not wait any longer. Again: does nothing. */
        public void end() {
            ended(this).forEach(Turn::run);
        }

        private void run() {
            begin.accept(this);
        }
    }

    /**
     * Waits for a turn.
     *
     * @param cost bytes in memory
     * @param begin runs once, unless the turn ends before: at once, or on any thread. It ends the turn that it is given
     */
    public Turn enter(SourceAddress source, long cost, Consumer<Turn> begin) {
        var turn = new Turn(source, cost, begin);
        if (isNext(turn)) {
            turn.run();
        }
        return turn;
    }

    private synchronized boolean isNext(Turn turn) {
        if (waiting.isEmpty() && fits(turn)) {
            start(turn);
            return true;
        }
        waiting.computeIfAbsent(turn.source, any -> new LinkedHashSet<>()).add(turn);
        return false;
    }

    private boolean fits(Turn turn) {
        return closed || storing == 0 || storing < AT_ONCE && bytes + turn.cost <= maxBytes;
    }

    private void start(Turn turn) {
        turn.state = State.STORING;
        storing++;
        bytes += turn.cost;
    }

    private synchronized List<Turn> ended(Turn turn) {
        switch (turn.state) {
            case WAITING -> remove(turn);
            case STORING -> {
                storing--;
                bytes -= turn.cost;
            }
            case OVER -> {
            }
        }
        turn.state = State.OVER;
        return startWaiting();
    }

    private void remove(Turn turn) {
        waiting.computeIfPresent(turn.source, (any, turns) -> {
            turns.remove(turn);
            return turns.isEmpty() ? null : turns;
        });
    }

    private List<Turn> startWaiting() {
        List<Turn> started = new ArrayList<>(1);
        while (!waiting.isEmpty()) {
            LinkedHashSet<Turn> turns = waiting.values().iterator().next();
            Turn next = turns.getFirst();
            if (!fits(next)) {
                break;
            }
            waiting.remove(next.source);
            turns.remove(next);
            if (!turns.isEmpty()) {
                waiting.put(next.source, turns); // behind the others
            }
            start(next);
            started.add(next);
        }
        return started;
    }

    /** Nothing waits any longer, now or later. */
    void close() {
        closing().forEach(Turn::run);
    }

    private synchronized List<Turn> closing() {
        closed = true;
        return startWaiting();
    }

    /** Webhooks that wait. */
    synchronized int waiting() {
        return waiting.values().stream().mapToInt(LinkedHashSet::size).sum();
    }
}
