package dev.culvert.client.link;

/**
 * Whether this instance may take its runtime over from another: once, when it starts. After that it only joins, and having
 * lost the runtime to a newer instance it waits for that one to go. Callable from any thread.
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

    /** A session is live. */
    void done() {
        state = State.OWNER;
    }

    /** Another instance owns the runtime. */
    void lost() {
        state = State.LOST;
    }
}
