package dev.culvert.relay.quota;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request's place among the concurrent streams of its runtime, counted for its caller's address. The place
 * is held until both halves of the exchange have ended, also while the request waits for its tunnel. Belongs
 * to the request's event loop.
 */
public final class StreamPlace {
    /** A stream that has sent and received nothing for this long gives way before a request is refused. */
    static final Duration IDLE = Duration.ofSeconds(10);

    private final Quota<SourceAddress> streams;
    private Quota<SourceAddress>.@Nullable Claim claim;
    private boolean requestEnded;
    private boolean responseEnded;
    private boolean crowded;

    /** @param requestEnded whether the request has no body */
    public StreamPlace(Quota<SourceAddress> streams, boolean requestEnded) {
        this.streams = streams;
        this.requestEnded = requestEnded;
    }

    /**
     * Takes a free place, or the place of the newest request of a source that has more, or of one that is
     * idle.
     *
     * @param shed called once, on any thread, if the request has to give its place to another one
     * @return false when all places are taken, this source has the most, and no request is idle
     */
    public boolean take(SourceAddress source, Runnable shed) {
        crowded = streams.used() >= streams.max();
        claim = streams.tryOpen(source, 1, shed, IDLE.toNanos());
        return claim != null;
    }

    /** Whether all places were taken, so that another request is about to end for this one. */
    public boolean isAnothers() {
        return crowded;
    }

    /** Records that bytes crossed in either direction. */
    public void touch() {
        Quota<SourceAddress>.Claim held = claim;
        if (held != null) {
            held.touch();
        }
    }

    /** The request is complete. */
    public void requestEnded() {
        requestEnded = true;
        closeIfEnded();
    }

    /** The response is complete. */
    public void responseEnded() {
        responseEnded = true;
        closeIfEnded();
    }

    private void closeIfEnded() {
        if (requestEnded && responseEnded) {
            close();
        }
    }

    /** Whether the place is released. */
    public boolean isClosed() {
        return claim == null;
    }

    /** Releases the place, if it is held. */
    public void close() {
        Quota<SourceAddress>.Claim held = claim;
        if (held != null) {
            claim = null;
            held.close();
        }
    }
}
