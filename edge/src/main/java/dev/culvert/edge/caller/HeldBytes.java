package dev.culvert.edge.caller;

import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The body bytes that one exchange holds of its runtime's share of the memory budget, and what it owes both sides while that
 * is spent: reports that bytes were taken, which let more of them come, wait until there is room. Belongs to the
 * connection's event loop.
 */
final class HeldBytes {
    private final EventLoop loop;
    /** Told the bytes of the request, and of the response, that are now to be reported. */
    private final Report report;
    private @Nullable MemoryShare share;
    private int held;
    private int owedRequest;
    private int owedResponse;
    private boolean waiting;

    /** Reports bytes as taken. */
    @FunctionalInterface
    interface Report {
        void taken(int requestBytes, int responseBytes);
    }

    HeldBytes(EventLoop loop, Report report) {
        this.loop = loop;
        this.report = report;
    }

    /** From now on bytes count for this share. */
    void of(MemoryShare runtimes) {
        share = runtimes;
    }

    void take(int bytes) {
        MemoryShare of = share;
        if (of != null) {
            held += bytes;
            of.take(bytes);
        }
    }

    void give(int bytes) {
        MemoryShare of = share;
        int given = Math.min(bytes, held);
        if (of != null && given > 0) {
            held -= given;
            of.give(given);
        }
    }

    /** Gives everything back. Nothing counts any more. */
    void close() {
        give(held);
        share = null;
    }

    int held() {
        return held;
    }

    /** The bytes of the request whose sender was not told yet that more may come. */
    int owedRequest() {
        return owedRequest;
    }

    /** Whether nothing should be read now; {@link Report} is called, if only with zeros, when that ends. */
    boolean isStopped() {
        MemoryShare of = share;
        if (of == null || !of.isSpent()) {
            return false;
        }
        if (!waiting) {
            waiting = true;
            of.budget().whenFree(of, loop, this::goOn);
        }
        return true;
    }

    /** Reports bytes now, or when there is room. */
    void taken(int requestBytes, int responseBytes) {
        if (isStopped()) {
            owedRequest += requestBytes;
            owedResponse += responseBytes;
        } else {
            report.taken(requestBytes, responseBytes);
        }
    }

    /** The bytes of the response that are still to be reported; the caller does that. */
    int settleResponse() {
        int owed = owedResponse;
        owedResponse = 0;
        return owed;
    }

    private void goOn() {
        waiting = false;
        int request = owedRequest;
        int response = owedResponse;
        owedRequest = 0;
        owedResponse = 0;
        taken(request, response);
    }
}
