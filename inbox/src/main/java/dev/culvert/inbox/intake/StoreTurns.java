package dev.culvert.inbox.intake;

import dev.culvert.http.quota.SourceAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The turns in which webhooks that have arrived are stored. A bounded number is stored at once; the others
 * wait, and source addresses take turns, so that the webhooks of one address do not wait behind all webhooks
 * of another. A waiting webhook still counts in {@link Intakes}, which bounds their number. Safe for use by
 * any thread.
 */
final class StoreTurns {
    /** The maximum number being stored: one transaction, and the next one, which gathers meanwhile. */
    static final int AT_ONCE = 128;

    private final long maxBytes;
    /** The next address first; its webhooks in order of arrival. Guarded by this. */
    private final Map<SourceAddress, LinkedHashSet<Turn>> waiting = new LinkedHashMap<>();
    private int storing;
    private long bytes;
    private boolean closed;

    private enum State {
        WAITING, STORING, OVER
    }

    /** @param maxBytes memory of the webhooks being stored; a single webhook may take more */
    StoreTurns(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** The place of one webhook. */
    final class Turn {
        private final SourceAddress source;
        private final long cost;
        private final Consumer<Turn> begin;
        private State state = State.WAITING;

        private Turn(SourceAddress source, long cost, Consumer<Turn> begin) {
            this.source = source;
            this.cost = cost;
            this.begin = begin;
        }

        /** Ends the turn: the webhook is stored, refused, or no longer waits. Idempotent. */
        void end() {
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
     * @param begin runs once, at once or later on any thread, unless the turn ends first. It must end the
     *     turn that it receives
     */
    Turn enter(SourceAddress source, long cost, Consumer<Turn> begin) {
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
                waiting.put(next.source, turns); // behind the other addresses
            }
            start(next);
            started.add(next);
        }
        return started;
    }

    /** Starts all waiting turns. Later ones start at once. */
    void close() {
        closing().forEach(Turn::run);
    }

    private synchronized List<Turn> closing() {
        closed = true;
        return startWaiting();
    }

    /** Returns the number of waiting webhooks. */
    synchronized int waiting() {
        return waiting.values().stream().mapToInt(LinkedHashSet::size).sum();
    }
}
