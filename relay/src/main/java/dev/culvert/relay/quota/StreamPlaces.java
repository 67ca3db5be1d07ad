package dev.culvert.relay.quota;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.quota.SourceStandings.Standing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The places of a runtime's concurrent streams, shared by the source addresses of its callers. Who gives way
 * when all are taken depends on what is known of the newcomer's source: the runtime has answered it within
 * the last minutes, nothing, or it has held a place without an answer until somebody else needed it. A source
 * that did not read its responses while memory was short counts as one that gave way, although the runtime
 * answers it.
 *
 * <ol>
 * <li>The newest stream of the source with most, if that has more than the newcomer's. A source that was
 * answered and holds few gives way to answered ones only.
 * <li>The oldest stream of a stranger, which is a source that was never answered: at once to a source that
 * was answered and holds few; to a new source that holds none, once it has sent and got nothing for {@link
 * #STRANGER}; to one that gave way before, for {@link #IDLE}. A stranger that gives way sooner than after
 * {@link #STRANGER} of silence counts as new when it comes again: it had no time to be answered.
 * <li>Any stream that has sent and got nothing for {@link #IDLE}, the longest first, unless the newcomer gave
 * way before, or strangers have half of the places.
 * </ol>
 *
 * Therefore many addresses with one unanswered request each keep nobody out for long, and none whom the
 * runtime served before; and a long poll, a slow report or a quiet WebSocket of a source that was answered
 * keeps its place as long as strangers have half of them. Not so the first request of a source: while all
 * places are taken, it must be answered within {@link #STRANGER}. A source that has been answered once can
 * hold a place for {@link #IDLE}. Safe for use by any thread.
 */
public final class StreamPlaces {
    /** A stream that has sent and received nothing for this long gives way before a request is refused. */
    static final Duration IDLE = Duration.ofSeconds(10);
    /** The same, of a source that was never answered. Most answers begin sooner. */
    static final Duration STRANGER = Duration.ofSeconds(1);
    /** Attempts to take a stranger's place: another thread may take it first. */
    private static final int TRIES = 3;
    /** The streams of a source that are few, at least; else one in sixteen. */
    private static final int FEW = 4;

    private final Quota<SourceAddress> places;
    private final SourceStandings known;
    private final LongSupplier nanoClock;
    private final long runtime = ThreadLocalRandom.current().nextLong();
    /**
     * Places of sources that were not served ones when they took it, oldest first, until they are answered;
     * those of slow readers until they end. Guarded by this.
     */
    private final Deque<Place> strangers = new ArrayDeque<>();
    /** Those of {@link #strangers} that are held. Guarded by this. */
    private int held;

    /** The place of one stream. */
    public final class Place implements AutoCloseable {
        private final Quota<SourceAddress>.Claim claim;
        /** The touch by which it was queued last. Guarded by the places. */
        private long queuedNanos;
        /** It is in the queue of strangers, and held. Written under the lock of the places. */
        private volatile boolean stranger;

        private Place(Quota<SourceAddress>.Claim claim) {
            this.claim = claim;
            this.queuedNanos = claim.touchedNanos();
        }

        /** Bytes crossed in either direction. */
        public void touch() {
            claim.touch();
        }

        /** When bytes crossed last, or the place was taken. */
        public long touchedNanos() {
            return claim.touchedNanos();
        }

        /** The runtime has answered. */
        public void answered() {
            claim.touch();
            long now = claim.touchedNanos();
            known.note(runtime, claim.account(), Standing.SERVED, now);
            if (stranger && known.of(runtime, claim.account(), now) != Standing.SLOW) {
                leave(this);
            }
        }

        @Override
        public void close() {
            claim.close();
            if (stranger) {
                leave(this);
            }
        }
    }

    StreamPlaces(int max, SourceStandings known, LongSupplier nanoClock) {
        this.places = new Quota<>(max);
        this.known = known;
        this.nanoClock = nanoClock;
    }

    void resize(int max) {
        places.resize(max);
    }

    /** A response to this source was dropped, because it did not read and memory was short. */
    void readsSlowly(SourceAddress source) {
        known.note(runtime, source, Standing.SLOW, nanoClock.getAsLong());
    }

    /** The places that are taken. */
    public long used() {
        return places.used();
    }

    /** The source addresses that have places. */
    public int sources() {
        return places.accounts();
    }

    /** Whether all places are taken. */
    public boolean isFull() {
        return places.used() >= places.max();
    }

    /**
     * Takes a place.
     *
     * @param shed called once, on any thread, if the stream has to give its place to another one
     * @return null if nobody gives way
     */
    public @Nullable Place take(SourceAddress source, Runnable shed) {
        long now = nanoClock.getAsLong();
        Standing standing = known.of(runtime, source, now);
        Quota<SourceAddress>.Claim claim = open(source, standing, shed, now);
        if (claim == null && !standing.isBad() && !haveStrangersHalf()) {
            claim = places.tryOpen(source, 1, shed, IDLE.toNanos());
        }
        if (claim == null) {
            return null;
        }
        Place place = new Place(claim);
        if (standing != Standing.SERVED) {
            enter(place);
        }
        return place;
    }

    private Quota<SourceAddress>.@Nullable Claim open(SourceAddress source, Standing standing, Runnable shed,
            long now) {
        var claim = openIfFair(source, standing, shed, now);
        for (int i = 0; claim == null && i < TRIES; i++) {
            Place stranger = strangerFor(source, standing, now);
            if (stranger == null) {
                return null;
            }
            if (now - stranger.claim.touchedNanos() >= STRANGER.toNanos()) {
                known.note(runtime, stranger.claim.account(), Standing.GAVE_WAY, now);
            } // else it had no time to be answered
            stranger.claim.giveWay();
            claim = openIfFair(source, standing, shed, now);
        }
        return claim;
    }

    private Quota<SourceAddress>.@Nullable Claim openIfFair(SourceAddress source, Standing standing,
            Runnable shed, long now) {
        return standing == Standing.SERVED
                ? places.tryOpen(source, 1, shed)
                : places.tryOpen(source, 1, shed, other -> places.usedBy(other) <= few()
                        && known.of(runtime, other, now) == Standing.SERVED);
    }

    private long few() {
        return Math.max(FEW, places.max() / 16);
    }

    /** The stranger's place that this source may have, which leaves the queue; null if there is none. */
    private @Nullable Place strangerFor(SourceAddress source, Standing standing, long now) {
        boolean served = standing == Standing.SERVED;
        if (places.usedBy(source) >= (served ? few() : 1)) {
            return null;
        }
        long silence = served ? 0 : (standing == Standing.NEW ? STRANGER : IDLE).toNanos();
        return oldestStranger(silence, now);
    }

    private synchronized @Nullable Place oldestStranger(long silence, long now) {
        // Twice: those whose bytes cross are looked at again behind the silent ones.
        for (int i = 2 * strangers.size(); i > 0 && !strangers.isEmpty(); i--) {
            Place oldest = strangers.removeFirst();
            long touched = oldest.claim.touchedNanos();
            boolean counts = oldest.stranger
                    && known.of(runtime, oldest.claim.account(), now) != Standing.SERVED;
            if (counts && touched == oldest.queuedNanos) {
                if (now - touched < silence) {
                    strangers.addFirst(oldest);
                    return null;
                }
                forget(oldest);
                return oldest;
            } else if (counts) {
                oldest.queuedNanos = touched;
                strangers.addLast(oldest);
            } else {
                forget(oldest);
            }
        }
        return null;
    }

    private void forget(Place place) {
        if (place.stranger) {
            place.stranger = false;
            held--;
        }
    }

    private synchronized void enter(Place place) {
        place.stranger = true;
        held++;
        strangers.addLast(place);
    }

    /** Those who have left are dropped from the queue when they are half of it: so it has a bound. */
    private synchronized void leave(Place place) {
        forget(place);
        if (strangers.size() > 2 * held + FEW) {
            for (Iterator<Place> each = strangers.iterator(); each.hasNext();) {
                if (!each.next().stranger) {
                    each.remove();
                }
            }
        }
    }

    private synchronized boolean haveStrangersHalf() {
        return held > places.max() / 2;
    }
}
