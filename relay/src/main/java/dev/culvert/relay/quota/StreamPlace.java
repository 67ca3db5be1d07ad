package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import org.jspecify.annotations.Nullable;

/**
 * A request's place among the concurrent streams of its runtime, counted for its caller's address. The place
 * is held until both halves of the exchange have ended, also while the request waits for its tunnel. Belongs
 * to the request's event loop.
 */
public final class StreamPlace {
    private final StreamPlaces streams;
    private StreamPlaces.@Nullable Place place;
    private boolean requestEnded;
    private boolean responseEnded;
    private boolean crowded;

    /** @param requestEnded whether the request has no body */
    public StreamPlace(StreamPlaces streams, boolean requestEnded) {
        this.streams = streams;
        this.requestEnded = requestEnded;
    }

    /**
     * Takes a free place, or that of a stream that gives way to this source.
     *
     * @param shed called once, on any thread, if the request has to give its place to another one
     * @return false when all places are taken and nobody gives way
     */
    public boolean take(SourceAddress source, Runnable shed) {
        crowded = streams.isFull();
        place = streams.take(source, shed);
        return place != null;
    }

    /** Whether all places were taken, so that another request is about to end for this one. */
    public boolean isAnothers() {
        return crowded;
    }

    /** Bytes crossed in either direction. */
    public void touch() {
        StreamPlaces.Place held = place;
        if (held != null) {
            held.touch();
        }
    }

    /** When bytes crossed last, or the place was taken; 0: it is released. */
    public long touchedNanos() {
        StreamPlaces.Place held = place;
        return held == null ? 0 : held.touchedNanos();
    }

    /** The head of the runtime's response has come. */
    public void answered() {
        StreamPlaces.Place held = place;
        if (held != null) {
            held.answered();
        }
    }

    public void requestEnded() {
        requestEnded = true;
        closeIfEnded();
    }

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
        return place == null;
    }

    public void close() {
        StreamPlaces.Place held = place;
        if (held != null) {
            place = null;
            held.close();
        }
    }
}
