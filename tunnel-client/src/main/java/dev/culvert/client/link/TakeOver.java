package dev.culvert.client.link;

/**
 * Whether this instance may take over its runtime from another one. It may do so once, when it starts. After
 * that it only joins. If it has lost the runtime to a newer instance, it waits until that one has gone.
 * Callable from any thread.
 */
final class TakeOver {
    private enum State {
        WANTED, OWNER, LOST
    }

    private volatile State state = State.WANTED;

    boolean isWanted() {
        return state == State.WANTED;
    }

    /** Whether there is no sign that another instance owns the runtime. */
    boolean isOwner() {
        return state != State.LOST;
    }

    /** Called when a session is live. */
    void done() {
        state = State.OWNER;
    }

    /** Called when another instance owns the runtime. */
    void lost() {
        state = State.LOST;
    }
}
