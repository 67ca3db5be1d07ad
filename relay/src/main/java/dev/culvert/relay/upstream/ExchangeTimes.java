package dev.culvert.relay.upstream;

import dev.culvert.relay.ResponseSink;

/**
 * Measures the hops of one exchange until the head of its response. The router's share ends when the exchange
 * has its connection. The upstream's share begins then, or with the last byte of the request if that is
 * later. Belongs to the exchange's event loop.
 */
public final class ExchangeTimes {
    private final long openedNanos = System.nanoTime();
    private long attachedNanos = openedNanos;
    private long sentNanos = openedNanos;

    /** The exchange has a connection. The last call counts. */
    public void attached() {
        attachedNanos = System.nanoTime();
        sentNanos = attachedNanos;
    }

    /** The whole request was written. */
    public void requestWritten() {
        sentNanos = System.nanoTime();
    }

    /** The final head has arrived: reports the times to {@code response}. */
    public void tell(ResponseSink response) {
        long now = System.nanoTime();
        response.times(micros(attachedNanos - openedNanos), micros(now - sentNanos));
    }

    private static int micros(long nanos) {
        return Math.clamp(nanos / 1000, 0, Integer.MAX_VALUE);
    }
}
