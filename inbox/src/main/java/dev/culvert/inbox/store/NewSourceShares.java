package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.store.NewSource.Name;
import dev.culvert.inbox.store.Transaction.Usage;
import dev.culvert.store.StoreException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Shares the places and bytes of a runtime's new event sources among the addresses that opened them. One
 * address takes at most an eighth of the places and a quarter of the bytes that are left, and an IPv6 /48
 * twice as much, so that it takes dozens of addresses to keep newcomers out. At the limit, sources whose
 * names do not resolve give way, those of the address with most first. Sources whose names resolve have
 * larger limits of their own.
 */
final class NewSourceShares {
    /** Sources may take one tenth of a runtime's places, and at least ten; those that resolve one half. */
    private static final int PLACES = 10;
    /** They may take one sixteenth of its bytes, and at least 1 MiB; those that resolve one half. */
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

    /** What is left of one of the limits. */
    private record Room(boolean ofResolved, Usage free) {}

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
            if (hasBytes(present.from(), room, 0)) {
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
        if (cost <= room.free.bytes() && hasPlace(from, room) && hasBytes(from, room, 0)) {
            return new Admission(from, List.of());
        }
        return displacing(source, from, cost, room, true);
    }

    private boolean mayTakeOver(NewSource present, SourceAddress from, Room room) {
        return hasPlace(from, room) && hasBytes(from, room, present.usage().bytes());
    }

    private Admission displacing(String source, SourceAddress owner, long cost, Room room, boolean opens) {
        List<NewSource> givingWay = new ArrayList<>();
        long free = room.free.bytes();
        for (NewSource next : room.ofResolved ? List.<NewSource>of() : candidates(source, owner, opens)) {
            if (givingWay.size() == MAX_GIVING_WAY || !givingWay.isEmpty() && cost <= free) {
                break;
            }
            givingWay.add(next);
            free += next.usage().entries() <= WebhookRows.GIVING_WAY ? next.usage().bytes() : 0;
        }
        if (givingWay.isEmpty() || cost > free) {
            throw full();
        }
        return new Admission(owner, givingWay);
    }

    /** Returns the sources without names, of addresses that have at least as much as {@code owner} has. */
    private List<NewSource> candidates(String source, SourceAddress owner, boolean opens) {
        ToLongFunction<SourceAddress> weight = address -> {
            Usage used = pending.sum(other -> !other.isResolved() && isOfSite(other, address));
            return opens ? used.entries() : used.bytes();
        };
        long own = weight.applyAsLong(owner);
        record Candidate(NewSource source, long weight) {}
        return pending.unknown()
                .stream()
                .filter(other -> other.name() == Name.NAMELESS && !other.source().equals(source))
                .map(other -> new Candidate(other, weight.applyAsLong(other.from())))
                .filter(other -> other.weight >= own)
                .sorted(Comparator.comparingLong(Candidate::weight)
                        .reversed()
                        .thenComparingLong(other -> other.source.since()))
                .map(Candidate::source)
                .limit(MAX_GIVING_WAY)
                .toList();
    }

    private boolean hasPlace(SourceAddress from, Room room) {
        long free = room.free.entries();
        return own(room, other -> other.from().equals(from)).entries() * PLACES_OF_ADDRESS < free
                && own(room, other -> isOfSite(other, from)).entries() * PLACES_OF_ADDRESS < OF_SITE * free;
    }

    private boolean hasBytes(SourceAddress from, Room room, long more) {
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
        return new Room(ofResolved, new Usage(places - used.entries(), bytes - used.bytes()));
    }

    private static StoreException.Full full() {
        return new StoreException.Full("webhooks of event sources that never accepted one have reached their"
                + " limit, or the share of this address");
    }
}
