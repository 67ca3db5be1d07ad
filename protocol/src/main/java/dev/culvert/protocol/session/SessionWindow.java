package dev.culvert.protocol.session;

/**
 * The DATA that the peer may send on the session, in bytes (docs/protocol.md §6). What was taken off the socket is due at
 * once, yet open again only when its grant is on the wire: a peer that does not wait for it overruns the window.
 */
final class SessionWindow {
    private final int size;
    private int open;
    private int due;

    SessionWindow(int size) {
        this.size = size;
        this.open = size;
    }

    /** Takes {@code bytes} that arrived. Returns false when they overrun the window. */
    boolean take(int bytes) {
        if (bytes > open) {
            return false;
        }
        open -= bytes;
        due += bytes;
        return true;
    }

    /** Whether half of the window waits to be granted. */
    boolean isDue() {
        return due >= size / 2;
    }

    /** Opens the window again. Returns the bytes to grant, which the caller puts on the wire. */
    int grant() {
        int granted = due;
        open += granted;
        due = 0;
        return granted;
    }
}
