package dev.culvert.client.link;

import dev.culvert.protocol.session.SessionEvent;
import org.jspecify.annotations.Nullable;

/**
 * Whether this instance may take over its runtime from another one, and whether it waits for it. It may take
 * over once, when it starts, and only if it is configured to. After that it only joins. If it has lost the
 * runtime to another instance, it waits on one session until the server promotes it, or asks again where the
 * server can't let it wait. Callable from any thread.
 *
 * <pre>
 *  WANTED ──live──► OWNER ──another one owns──► LOST ──live──► OWNER
 *  JOINING ─┘
 * </pre>
 */
final class TakeOver {
    private enum State {
        WANTED, JOINING, OWNER, LOST
    }

    private static final int NOBODY = -1;

    private State state;
    /** The connection that waits. */
    private int waiting = NOBODY;
    private SessionEvent.@Nullable Waiting waitsFor;
    private long sinceMillis;

    /** @param wanted whether the instance takes its runtime over when it starts */
    TakeOver(boolean wanted) {
        state = wanted ? State.WANTED : State.JOINING;
    }

    synchronized boolean isWanted() {
        return state == State.WANTED;
    }

    /** Whether there is no sign that another instance owns the runtime. */
    synchronized boolean isOwner() {
        return state != State.LOST;
    }

    /** Called when a session is live. Returns whether the instance waited before. */
    synchronized boolean done() {
        boolean waited = waitsFor != null;
        state = State.OWNER;
        waiting = NOBODY;
        waitsFor = null;
        return waited;
    }

    /** Called when another instance owns the runtime. */
    synchronized void lost() {
        state = State.LOST;
    }

    /** Called when the session of a connection waits. Returns whether that is news to an operator. */
    synchronized boolean waits(int connection, SessionEvent.Waiting owner, long nowMillis) {
        SessionEvent.Waiting before = waitsFor;
        if (before == null) {
            sinceMillis = nowMillis;
        }
        state = State.LOST;
        waiting = connection;
        waitsFor = owner;
        return before == null || before.generation() != owner.generation();
    }

    /** Called when the session of a connection waits no more. */
    synchronized void ended(int connection) {
        if (waiting == connection) {
            waiting = NOBODY;
        }
    }

    /** Whether another connection waits, so that this one need not. */
    synchronized boolean waitsBeside(int connection) {
        return waiting != NOBODY && waiting != connection;
    }

    synchronized boolean isWaiting() {
        return waiting != NOBODY;
    }

    /** The time at which the instance began to wait, in milliseconds since 1970; null if it does not wait. */
    synchronized @Nullable Long waitingSinceMillis() {
        return waiting == NOBODY ? null : sinceMillis;
    }
}
