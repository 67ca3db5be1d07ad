package dev.culvert.relay.upstream;

import dev.culvert.relay.ResponseSink;

/**
 * Where the time of one exchange goes, until its response's head: the router's share ends when the exchange has its
 * connection, the upstream's begins then, or with the last byte of a request that ended later. On the exchange's event loop.
 */
public final class ExchangeTimes {
    private final long openedNanos = System.nanoTime();
    private long attachedNanos = openedNanos;
    private long sentNanos = openedNanos;

    /** The exchange has a connection; the last one counts. */
    public void attached() {
        attachedNanos = System.nanoTime();
        sentNanos = attachedNanos;
    }

    /** The whole request was written. */
    public void requestWritten() {
        sentNanos = System.nanoTime();
    }

    /** The final head is there. */
    public void tell(ResponseSink response) {
        long now = System.nanoTime();
        response.times(micros(attachedNanos - openedNanos), micros(now - sentNanos));
    }

    private static int micros(long nanos) {
        return Math.clamp(nanos / 1000, 0, Integer.MAX_VALUE);
    }
}
