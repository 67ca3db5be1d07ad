package dev.culvert.relay.listen;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The TLS handshakes of a listener that run at once. A source that has fewer than another gets a place of the other's, which
 * loses its newest; else a connection waits until a place is free, and the sources that wait take turns. Callable from any
 * thread.
 */
final class HandshakePlaces {
    private final Quota<SourceAddress> places;
    /** By source, the next one first. Each waiting connection is paid for by the bytes that it keeps. */
    private final Map<SourceAddress, LinkedHashSet<Waiting>> waiting = new LinkedHashMap<>();

    /** A connection whose handshake can begin. Called on any thread, perhaps with a lock held: returns at once. */
    interface Waiting {
        /** Its turn has come. It ends its place by {@link HandshakePlaces#over}. */
        void begin(Quota<SourceAddress>.Claim place);

        /** Its place is another's now: it closes. */
        void giveWay();
    }

    private record Turn(Waiting next, Quota<SourceAddress>.Claim place) {}

    HandshakePlaces(int max) {
        places = new Quota<>(max);
    }

    /** Returns a place, or null: then {@code connection} waits for {@link Waiting#begin} until {@link #leave}. */
    synchronized Quota<SourceAddress>.@Nullable Claim ask(SourceAddress source, Waiting connection) {
        Quota<SourceAddress>.Claim place = places.tryOpen(source, 1, connection::giveWay);
        if (place == null) {
            waiting.computeIfAbsent(source, any -> new LinkedHashSet<>()).add(connection);
        }
        return place;
    }

    /** {@code connection} waits no longer. Harmless if it does not. */
    synchronized void leave(SourceAddress source, Waiting connection) {
        LinkedHashSet<Waiting> ofSource = waiting.get(source);
        if (ofSource != null && ofSource.remove(connection) && ofSource.isEmpty()) {
            waiting.remove(source);
        }
    }

    /** A handshake is over, or takes too long to count any more: others begin. */
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
            waiting.put(source, ofSource); // behind the others
        }
        return new Turn(next, place);
    }

    /** Handshakes that run now. */
    int running() {
        return (int) places.used();
    }
}
