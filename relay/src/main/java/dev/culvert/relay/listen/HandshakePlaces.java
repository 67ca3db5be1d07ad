package dev.culvert.relay.listen;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits the concurrent TLS handshakes of a listener. When all places are taken, a source with fewer
 * handshakes than another gets a place of the other source, whose newest connection closes. Otherwise a
 * connection waits until a place is free, and the waiting sources take turns. Callable from any thread.
 */
final class HandshakePlaces {
    private final Quota<SourceAddress> places;
    /**
     * The waiting connections by source; the source whose turn is next comes first. Not bounded here: each
     * waiting connection holds a hello, whose bytes the gate bounds.
     */
    private final Map<SourceAddress, LinkedHashSet<Waiting>> waiting = new LinkedHashMap<>();

    /**
     * A connection whose handshake can begin. Called on any thread, possibly while a lock is held, so
     * implementations must return at once.
     */
    interface Waiting {
        /** The connection has a place. It returns the place by {@link HandshakePlaces#over}. */
        void begin(Quota<SourceAddress>.Claim place);

        /** Another connection takes the place, so this connection must close. */
        void giveWay();
    }

    private record Turn(Waiting next, Quota<SourceAddress>.Claim place) {}

    HandshakePlaces(int max) {
        places = new Quota<>(max);
    }

    /**
     * Returns a place. If it returns null, {@code connection} waits for {@link Waiting#begin} until
     * {@link #leave}.
     */
    synchronized Quota<SourceAddress>.@Nullable Claim ask(SourceAddress source, Waiting connection) {
        Quota<SourceAddress>.Claim place = places.tryOpen(source, 1, connection::giveWay);
        if (place == null) {
            waiting.computeIfAbsent(source, any -> new LinkedHashSet<>()).add(connection);
        }
        return place;
    }

    /** Removes {@code connection} from the waiting ones. Has no effect if it does not wait. */
    synchronized void leave(SourceAddress source, Waiting connection) {
        LinkedHashSet<Waiting> ofSource = waiting.get(source);
        if (ofSource != null && ofSource.remove(connection) && ofSource.isEmpty()) {
            waiting.remove(source);
        }
    }

    /**
     * Frees the place of a handshake that is over, or takes too long to count any more, and begins waiting
     * ones.
     */
    void over(Quota<SourceAddress>.Claim place) {
        place.close();
        for (Turn turn = next(); turn != null; turn = next()) {
            turn.next.begin(turn.place);
        }
    }

    private synchronized @Nullable Turn next() {
        if (waiting.isEmpty()) {
            return null;
        }
        Map.Entry<SourceAddress, LinkedHashSet<Waiting>> first = waiting.entrySet().iterator().next();
        SourceAddress source = first.getKey();
        LinkedHashSet<Waiting> ofSource = first.getValue();
        Waiting next = ofSource.getFirst();
        Quota<SourceAddress>.Claim place = places.tryOpen(source, 1, next::giveWay);
        if (place == null) {
            return null;
        }
        ofSource.removeFirst();
        waiting.remove(source);
        if (!ofSource.isEmpty()) {
            waiting.put(source, ofSource); // to the end of the turn order
        }
        return new Turn(next, place);
    }

    /** The number of handshakes in progress. */
    int running() {
        return (int) places.used();
    }
}
