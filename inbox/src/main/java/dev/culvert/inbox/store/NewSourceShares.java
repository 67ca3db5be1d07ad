package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.store.Transaction.Usage;
import dev.culvert.store.StoreException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Shares the places and bytes of a runtime's new event sources among the addresses that opened them. While
 * less than half is taken, an address may take whatever it needs. Then one address takes at most an eighth of
 * the places and a quarter of the bytes that are left, and an IPv6 /48 twice as much, so that it takes dozens
 * of addresses to keep newcomers out. At the limit, sources give way that the cluster has had no name for
 * since some time ({@link NewSource#mayGiveWay}), those of the address with most first. Sources that have
 * answered have larger limits of their own.
 */
final class NewSourceShares {
    /** Sources may take one tenth of a runtime's places, and at least ten; those that answered one half. */
    private static final int PLACES = 10;
    /** They may take one sixteenth of its bytes, and at least 1 MiB; those that answered one half. */
    private static final int BYTES = 16;
    private static final int OF_RESOLVED = 2;
    private static final int PLACES_OF_ADDRESS = 8;
    private static final int BYTES_OF_ADDRESS = 4;
    private static final int OF_SITE = 2;
    /** The maximum number of sources that give way to one webhook. */
    private static final int MAX_GIVING_WAY = 8;

    private final InboxConfig config;
    private final PendingSources pending;

    /**
     * The decision to store a webhook.
     *
     * @param owner the address that its event source counts for
     * @param givingWay the sources that give way to it
     */
    record Admission(SourceAddress owner, List<NewSource> givingWay) {}

    /** One of the limits, and what is left of it. */
    private record Room(boolean ofResolved, Usage whole, Usage free) {
        boolean hasManyPlaces() {
            return 2 * free.entries() > whole.entries();
        }

        boolean hasManyBytes() {
            return 2 * free.bytes() > whole.bytes();
        }
    }

    NewSourceShares(InboxConfig config, PendingSources pending) {
        this.config = config;
        this.pending = pending;
    }

    /**
     * Decides on a webhook of a new source. Throws {@link StoreException.Full}.
     *
     * @param from the webhook's sender
     */
    Admission admit(String source, SourceAddress from, long cost) {
        NewSource present = pending.unknown(source);
        if (present == null) {
            return open(source, from, cost);
        }
        Room room = room(present.isResolved());
        if (cost <= room.free.bytes()) {
            // The lighter one of its two senders pays: strangers must not use up a share for it.
            if (!present.from().equals(from) && mayTakeOver(present, from, room)) {
                return new Admission(from, List.of());
            }
            if (hasBytes(present.from(), room)) {
                return new Admission(present.from(), List.of());
            }
        }
        return displacing(source, present.from(), cost, room, false);
    }

    private Admission open(String source, SourceAddress from, long cost) {
        Room resolved = room(true);
        if (!hasPlace(from, resolved)) {
            throw full();
        }
        Room room = room(false);
        if (cost <= room.free.bytes() && hasPlace(from, room) && hasBytes(from, room)) {
            return new Admission(from, List.of());
        }
        return displacing(source, from, cost, room, true);
    }

    private boolean mayTakeOver(NewSource present, SourceAddress from, Room room) {
        return hasShareOfPlaces(from, room) && hasShareOfBytes(from, room, present.usage().bytes());
    }

    private Admission displacing(String source, SourceAddress owner, long cost, Room room, boolean opens) {
        List<NewSource> givingWay = new ArrayList<>();
        long bytes = room.free.bytes() - cost;
        long places = opens ? room.free.entries() - 1 : 0;
        for (NewSource next : room.ofResolved ? List.<NewSource>of() : candidates(source, owner, opens)) {
            if (!givingWay.isEmpty() && bytes >= 0 && places >= 0) {
                break;
            }
            givingWay.add(next);
            bytes += next.usage().bytes();
            places++;
        }
        if (givingWay.isEmpty() || bytes < 0 || places < 0) {
            throw full();
        }
        return new Admission(owner, givingWay);
    }

    /**
     * Returns the sources that may give way, of addresses that have at least as much as {@code owner} has.
     */
    private List<NewSource> candidates(String source, SourceAddress owner, boolean opens) {
        Map<SourceAddress, Long> weights = new HashMap<>();
        for (NewSource other : pending.unknown()) {
            if (!other.isResolved()) {
                weights.merge(other.from().site(), opens ? 1 : other.usage().bytes(), Long::sum);
            }
        }
        long own = weights.getOrDefault(owner.site(), 0L);
        record Candidate(NewSource source, long weight) {}
        return pending.unknown()
                .stream()
                .filter(other -> other.mayGiveWay() && !other.source().equals(source))
                .map(other -> new Candidate(other, weights.getOrDefault(other.from().site(), 0L)))
                .filter(other -> other.weight >= own)
                .sorted(Comparator.comparingLong(Candidate::weight)
                        .reversed()
                        .thenComparingLong(other -> other.source.since()))
                .map(Candidate::source)
                .limit(MAX_GIVING_WAY)
                .toList();
    }

    private boolean hasPlace(SourceAddress from, Room room) {
        return room.hasManyPlaces() || hasShareOfPlaces(from, room);
    }

    private boolean hasBytes(SourceAddress from, Room room) {
        return room.hasManyBytes() || hasShareOfBytes(from, room, 0);
    }

    private boolean hasShareOfPlaces(SourceAddress from, Room room) {
        long free = room.free.entries();
        return own(room, other -> other.from().equals(from)).entries() * PLACES_OF_ADDRESS < free
                && own(room, other -> isOfSite(other, from)).entries() * PLACES_OF_ADDRESS < OF_SITE * free;
    }

    private boolean hasShareOfBytes(SourceAddress from, Room room, long more) {
        long free = room.free.bytes();
        long own = own(room, other -> other.from().equals(from)).bytes() + more;
        long ofSite = own(room, other -> isOfSite(other, from)).bytes() + more;
        return own * BYTES_OF_ADDRESS < free && ofSite * BYTES_OF_ADDRESS < OF_SITE * free;
    }

    private Usage own(Room room, Predicate<NewSource> some) {
        return pending.sum(other -> other.isResolved() == room.ofResolved && some.test(other));
    }

    private static boolean isOfSite(NewSource source, SourceAddress from) {
        return source.from().site().equals(from.site());
    }

    private Room room(boolean ofResolved) {
        long most = config.maxRuntimeBytes().bytes();
        long places = ofResolved
                ? Math.max(config.maxSources() / OF_RESOLVED, 1)
                : Math.max(config.maxSources() / PLACES, Math.min(config.maxSources(), PLACES));
        long bytes = ofResolved ? most / OF_RESOLVED : Math.max(most / BYTES, 1 << 20);
        Usage used = pending.sum(source -> source.isResolved() == ofResolved);
        return new Room(ofResolved, new Usage(places, bytes),
                new Usage(places - used.entries(), bytes - used.bytes()));
    }

    private static StoreException.Full full() {
        return new StoreException.Full("webhooks of event sources that never accepted one have reached their"
                + " limit, or the share of this address");
    }
}
