package dev.culvert.protocol.session;

/**
 * The session's receive window in bytes of DATA (docs/protocol.md §6). Received bytes are due for a grant at
 * once, but the window reopens only when the grant is sent. A peer that does not wait for the grant overruns
 * the window.
 */
final class SessionWindow {
    private final int size;
    private int open;
    private int due;

    SessionWindow(int size) {
        this.size = size;
        this.open = size;
    }

    /** Counts {@code bytes} that were received. Returns false if they overrun the window. */
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

    /** Reopens the window. Returns the bytes to grant, which the caller must send. */
    int grant() {
        int granted = due;
        open += granted;
        due = 0;
        return granted;
    }
}
