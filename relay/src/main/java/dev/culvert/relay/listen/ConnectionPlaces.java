package dev.culvert.relay.listen;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.listen.ConnectionPlace.Worth;
import dev.culvert.relay.quota.SourceStandings;
import dev.culvert.relay.quota.SourceStandings.Standing;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The places of a listener's open connections. When all are taken, a silent connection gives way to a
 * newcomer: one that has sent no whole ClientHello before one that has, that before one of a known source,
 * and that before one that has carried something; among these, of the source with most silent ones, counted
 * by address or /64, then by /56 and by /48; and of those that are alike the one that is silent for longest.
 * Busy connections give way to nobody; an eighth more than the maximum is for newcomers when nearly all are
 * busy. Callable from any thread.
 *
 * <p>A source is known for ten minutes after a runtime answered it or it proved a session, with its
 * {@value #FEW_OF_SOURCE} newest silent connections: silent strangers do not close the new connections of
 * callers that were there before them.
 *
 * <p>The silent ones are sorted when a place is needed, and a 16th of them is then chosen at once, so that an
 * admission costs the sorting of 16 places.
 */
final class ConnectionPlaces {
    private static final int NEWCOMERS_PART = 8;
    private static final int CHOSEN_PART = 16;
    /** After a look that found no silent connection, the next comes after this part of them was refused. */
    private static final int VAIN_PART = 256;
    /** About what a browser opens at once. */
    private static final int FEW_OF_SOURCE = 8;
    private static final long LISTENER = 0;

    private final int max;
    /** The places beyond the maximum, for silent connections when nearly all are busy. */
    private final int newcomers;
    private final SourceStandings standings = new SourceStandings();
    private final Set<ConnectionPlace> open = new HashSet<>();
    private final Map<SourceAddress, Integer> bySource = new HashMap<>();
    /** The next connections that give way. */
    private final ArrayDeque<Silent> chosen = new ArrayDeque<>();
    private int silentWhenSorted;
    /** How often a place was needed since none was found silent. */
    private int vainly;

    /**
     * A silent connection when it was sorted, with the numbers of newer ones of its address (or /64), /56 and
     * /48.
     */
    static final class Silent {
        static final Comparator<Silent> ORDER = Comparator.<Silent>comparingInt(each -> each.rank)
                .thenComparingInt(each -> -each.ofSource)
                .thenComparingInt(each -> -each.of56)
                .thenComparingInt(each -> -each.of48)
                .thenComparing((one, other) -> Long.signum(one.since - other.since));

        final ConnectionPlace place;
        final long since;
        final Worth worth;
        int rank;
        int ofSource;
        int of56;
        int of48;

        Silent(ConnectionPlace place, long since) {
            this.place = place;
            this.since = since;
            this.worth = place.worth();
        }

        void rank(boolean known) {
            boolean spared = known && ofSource < FEW_OF_SOURCE;
            rank = switch (worth) {
                case SILENT -> spared ? 2 : 0;
                case GREETED -> spared ? 2 : 1;
                case SERVED -> 3;
            };
        }

        /** Whether nothing has come since. */
        boolean isStill() {
            return !place.isBusy() && place.silentSince() == since && place.worth() == worth;
        }
    }

    /**
     * An admission.
     *
     * @param place null: there is none
     * @param gaveWay the connections that must close for it, each unless something comes from it before
     */
    record Admission(@Nullable ConnectionPlace place, List<Silent> gaveWay) {}

    ConnectionPlaces(int max) {
        this.max = max;
        this.newcomers = max / NEWCOMERS_PART;
    }

    /** Takes a place for a connection, which is returned by {@link #close}. */
    synchronized Admission open(SourceAddress source, Channel channel) {
        List<Silent> gaveWay = List.of();
        if (open.size() >= max + newcomers || open.size() >= max && !areFewSilent()) {
            gaveWay = giveWay();
            if (gaveWay.isEmpty() && open.size() >= max + newcomers) {
                return new Admission(null, gaveWay);
            }
        }
        var place = new ConnectionPlace(source, channel, this);
        add(place);
        return new Admission(place, gaveWay);
    }

    /** One gives way, and more while connections that were to give way have stayed. */
    private List<Silent> giveWay() {
        List<Silent> all = new ArrayList<>(1);
        do {
            Silent next = nextToGiveWay();
            if (next == null) {
                break;
            }
            close(next.place);
            all.add(next);
        } while (open.size() >= max + newcomers);
        return all;
    }

    private void add(ConnectionPlace place) {
        if (open.add(place)) {
            bySource.merge(place.source, 1, Integer::sum);
        }
    }

    /** The source has been answered, or has proved a session. Takes no lock. */
    void know(SourceAddress source) {
        standings.note(LISTENER, source, Standing.SERVED, System.nanoTime());
    }

    private boolean isKnown(SourceAddress source) {
        return standings.of(LISTENER, source, System.nanoTime()) == Standing.SERVED;
    }

    /** Something has come from a connection that was to give way: it stays. */
    synchronized void stays(ConnectionPlace place) {
        add(place);
    }

    /** Returns a place. Again: nothing. */
    synchronized void close(ConnectionPlace place) {
        if (open.remove(place)) {
            bySource.merge(place.source, -1, (now, less) -> now == 1 ? null : now + less);
        }
    }

    /** Whether there were fewer silent connections than places for newcomers when they were sorted last. */
    private boolean areFewSilent() {
        if (chosen.isEmpty()) {
            choose();
        }
        return silentWhenSorted < newcomers;
    }

    private @Nullable Silent nextToGiveWay() {
        Silent next = nextChosen();
        if (next == null) {
            choose();
            next = nextChosen();
        }
        return next;
    }

    private @Nullable Silent nextChosen() {
        for (Silent next = chosen.poll(); next != null; next = chosen.poll()) {
            if (next.isStill() && open.contains(next.place)) {
                return next;
            }
        }
        return null;
    }

    private void choose() {
        if (silentWhenSorted == 0 && ++vainly < open.size() / VAIN_PART) {
            return;
        }
        vainly = 0;
        List<Silent> silent = new ArrayList<>();
        for (ConnectionPlace place : open) {
            long since = place.silentSince();
            if (!place.isBusy()) {
                silent.add(new Silent(place, since));
            }
        }
        silent.sort((one, other) -> Long.signum(other.since - one.since));
        Map<SourceAddress, Integer> sources = new HashMap<>();
        Map<Long, Integer> by56 = new HashMap<>();
        Map<SourceAddress, Integer> by48 = new HashMap<>();
        for (Silent each : silent) {
            SourceAddress source = each.place.source;
            each.ofSource = sources.merge(source, 1, Integer::sum) - 1;
            if (source.v6()) {
                each.of56 = by56.merge(source.network() >>> Byte.SIZE, 1, Integer::sum) - 1;
                each.of48 = by48.merge(source.site(), 1, Integer::sum) - 1;
            }
            each.rank(isKnown(source));
        }
        silent.sort(Silent.ORDER);
        silentWhenSorted = silent.size();
        chosen.addAll(silent.subList(0, (silent.size() + CHOSEN_PART - 1) / CHOSEN_PART));
    }

    /** The open connections of a source. */
    synchronized int of(SourceAddress source) {
        return bySource.getOrDefault(source, 0);
    }

    /** The sources with a connection. */
    synchronized int sources() {
        return bySource.size();
    }
}
