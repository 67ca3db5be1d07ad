package dev.culvert.inbox.model;

/** A caller who waits for its event source's answer. What it is told first counts. Any thread; none blocks. */
public interface Waiter {
    /** There is no answer to wait for. */
    void pending();

    /** This is the answer. */
    void answered(StoredAnswer answer);
}
