package dev.culvert.server.tunnel;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import org.jspecify.annotations.Nullable;

/**
 * A request's place among the concurrent streams of its runtime, counted for its caller's address. The place
 * is held until both halves of the exchange have ended, also while the request waits for its tunnel. Belongs
 * to the request's event loop.
 */
final class StreamPlace {
    private final Quota<SourceAddress> streams;
    private Quota<SourceAddress>.@Nullable Claim claim;
    private boolean requestEnded;
    private boolean responseEnded;
    private boolean crowded;

    /** @param requestEnded whether the request has no body */
    StreamPlace(Quota<SourceAddress> streams, boolean requestEnded) {
        this.streams = streams;
        this.requestEnded = requestEnded;
    }

    /**
     * Takes a free place, or the place of the newest request of a source that has more.
     *
     * @param shed called once, on any thread, if the request has to give its place to another source
     * @return false when all places are taken and this source has the most
     */
    boolean take(SourceAddress source, Runnable shed) {
        crowded = streams.used() >= streams.max();
        claim = streams.tryOpen(source, 1, shed);
        return claim != null;
    }

    /** Whether all places were taken, so that another request is about to end for this one. */
    boolean isAnothers() {
        return crowded;
    }

    void requestEnded() {
        requestEnded = true;
        closeIfEnded();
    }

    void responseEnded() {
        responseEnded = true;
        closeIfEnded();
    }

    private void closeIfEnded() {
        if (requestEnded && responseEnded) {
            close();
        }
    }

    /** Whether the place is released. */
    boolean isClosed() {
        return claim == null;
    }

    void close() {
        Quota<SourceAddress>.Claim held = claim;
        if (held != null) {
            claim = null;
            held.close();
        }
    }
}
