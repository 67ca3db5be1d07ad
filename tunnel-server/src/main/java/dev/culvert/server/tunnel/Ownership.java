package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Decides which instance owns a runtime's tunnel (docs/protocol.md §4.3). Pure state: what has happened goes
 * in, {@link Step}s that the caller has to take come out. Guarded by the tunnel.
 *
 * <pre>
 *           ┌──────────────────────connect────────────────────┐
 *           │                                                 ▼
 *  FREE ◄── nobody waits ──┐            ┌──────── take-over ──► OWNED
 *                          │            │                     │   │ leave, one waits
 *      ┌─► PROMOTING ◄─────┴── owner ───┼─────────────────────┘   ▼
 *      │    │   │ answered      gone    │                     HANDING OVER ──no answer──► the next, or owner let go
 *      └────┘   └───────────────────────┼──► OWNED               │ answered
 *    no answer: the next, or FREE       └────────────────────────┴──► OWNED by the other, the owner let go
 * </pre>
 *
 * <p>An owner changes only when it is gone, leaves or is taken over. A higher priority moves nothing.
 */
final class Ownership {
    /** What becomes of a connection. */
    enum Answer {
        /** Its instance owns the tunnel from now on. */
        OWNS,
        /** As {@link #OWNS}, and another instance was replaced. */
        TAKES_OVER,
        /** Its instance owns the tunnel already. */
        JOINS,
        /** It waits. */
        WAITS,
        /** Another instance owns the tunnel, and the connection can't wait. */
        REFUSED,
        /** As {@link #REFUSED}, because too many wait. */
        FULL
    }

    /** What the caller has to do with an instance. */
    sealed interface Step {
        UUID instance();

        /** Promote this one of those that wait, and call {@link #answered} or {@link #gone}. */
        record Promote(UUID instance) implements Step {}

        /** Drain the sessions of the former owner. */
        record LetGo(UUID instance, ErrorCode code) implements Step {}

        /** End the session of the instance that was being promoted. */
        record Recall(UUID instance) implements Step {}
    }

    private final WaitingInstances waiting;
    private final List<Step> steps = new ArrayList<>();
    private @Nullable UUID owner;
    /** The instance that was promoted and has not answered. */
    private @Nullable UUID promoted;
    /** Whether the owner asked for a successor. */
    private boolean leaving;
    /** Whether no more instances are promoted, because the server stops. */
    private boolean stopped;

    Ownership(WaitingInstances waiting) {
        this.waiting = waiting;
    }

    @Nullable
    UUID owner() {
        return owner;
    }

    @Nullable
    UUID promoted() {
        return promoted;
    }

    /** Whether another instance is promoted when the owner goes. */
    boolean hasSuccessor() {
        return !stopped && (promoted != null || waiting.first() != null);
    }

    /** Whether a connection would serve, so that its session takes streams. */
    boolean admits(UUID instance, boolean takesOver) {
        return takesOver || instance.equals(owner) || instance.equals(promoted)
                || (owner == null && promoted == null);
    }

    /** The steps since the last call, in order. */
    List<Step> steps() {
        List<Step> taken = List.copyOf(steps);
        steps.clear();
        return taken;
    }

    /**
     * A client has opened a connection.
     *
     * @param takesOver whether it may take the runtime over
     * @param priority the priority with which it waits, or {@link Hello#NO_STANDBY}
     */
    Answer connected(UUID instance, boolean takesOver, int priority) {
        if (instance.equals(owner)) {
            return Answer.JOINS;
        }
        if (instance.equals(promoted)) {
            answered(instance); // a second connection shows as well that it responds
            return Answer.JOINS;
        }
        if (owner == null && promoted == null) {
            waiting.remove(instance);
            owner = instance;
            return Answer.OWNS;
        }
        if (takesOver) {
            return takenOver(instance);
        }
        if (priority == Hello.NO_STANDBY) {
            return Answer.REFUSED;
        }
        return waiting.add(instance, priority) ? Answer.WAITS : Answer.FULL;
    }

    private Answer takenOver(UUID instance) {
        waiting.remove(instance);
        letGo(ErrorCode.REPLACED);
        if (promoted != null) {
            steps.add(new Step.Recall(promoted));
            promoted = null;
        }
        owner = instance;
        return Answer.TAKES_OVER;
    }

    /** The promoted instance has answered. Returns false if it may not own the tunnel any more. */
    boolean answered(UUID instance) {
        if (!instance.equals(promoted)) {
            return instance.equals(owner);
        }
        letGo(ErrorCode.REPLACED);
        promoted = null;
        owner = instance;
        return true;
    }

    /** The owner stops soon. It is let go once a successor has answered, or at once if none waits. */
    void leaves(UUID instance) {
        if (instance.equals(owner)) {
            leaving = true;
            settle();
        }
    }

    /**
     * No session of the instance takes streams any more, the session that waited has ended, or the instance
     * has not answered its promotion in time.
     */
    void gone(UUID instance) {
        waiting.remove(instance);
        if (instance.equals(owner)) {
            owner = null;
            leaving = false;
        } else if (instance.equals(promoted)) {
            promoted = null;
        }
        settle();
    }

    /** No instance is promoted from now on, because the server stops. */
    void stop() {
        stopped = true;
    }

    private void settle() {
        if ((owner != null && !leaving) || promoted != null) {
            return;
        }
        UUID next = stopped ? null : waiting.first();
        if (next == null) {
            letGo(ErrorCode.DRAINING);
        } else {
            waiting.remove(next);
            promoted = next;
            steps.add(new Step.Promote(next));
        }
    }

    private void letGo(ErrorCode code) {
        UUID former = owner;
        if (former != null) {
            steps.add(new Step.LetGo(former, code));
        }
        owner = null;
        leaving = false;
    }
}
