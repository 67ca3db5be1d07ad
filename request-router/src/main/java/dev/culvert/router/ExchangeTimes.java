package dev.culvert.router;

import dev.culvert.edge.relay.ResponseSink;

/**
 * Where the time of one exchange goes, until its response's head: the router's share ends when the exchange has its
 * connection, the upstream's begins then, or with the last byte of a request that ended later. On the exchange's event loop.
 */
final class ExchangeTimes {
    private final long openedNanos = System.nanoTime();
    private long attachedNanos = openedNanos;
    private long sentNanos = openedNanos;

    /** The exchange has a connection; the last one counts. */
    void attached() {
        attachedNanos = System.nanoTime();
        sentNanos = attachedNanos;
    }

    /** The whole request was written. */
    void requestWritten() {
        sentNanos = System.nanoTime();
    }

    /** The final head is there. */
    void tell(ResponseSink response) {
        long now = System.nanoTime();
        response.times(micros(attachedNanos - openedNanos), micros(now - sentNanos));
    }

    private static int micros(long nanos) {
        return Math.clamp(nanos / 1000, 0, Integer.MAX_VALUE);
    }
}
