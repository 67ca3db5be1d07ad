package dev.culvert.inbox.model;

/**
 * A caller that waits for its event source's response. Only the first call counts. Callable from any thread;
 * must not block.
 */
public interface Waiter {
    /** The webhook stays pending: no response will follow. */
    void pending();

    /** The event source responded. */
    void answered(StoredAnswer answer);
}
