package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.Naming;
import dev.culvert.inbox.store.Transaction.Usage;

/**
 * An event source with pending webhooks that never accepted one, and that no configuration names.
 *
 * @param from the address that its place counts for; {@link SourceAddress#UNKNOWN} for a source that is older
 *     than this record
 * @param name what the cluster said about its name
 * @param since the time at which it took its place
 * @param usage its pending webhooks
 */
record NewSource(String source, SourceAddress from, Name name, long since, Usage usage) {
    /**
     * What the cluster said about a name.
     *
     * @param first the time of the first attempt since which it is nameless without a break; 0: it is not
     * @param last the time of the last attempt that said so; 0: it is not nameless
     */
    record Name(Naming naming, long first, long last) {
        static final Name UNCLEAR = new Name(Naming.UNCLEAR, 0, 0);

        /** Returns what is known after an attempt, as {@link Transaction#named} stores it. */
        Name then(Naming shown, long now) {
            if (naming == Naming.RESOLVED) {
                return this;
            }
            if (shown != Naming.NAMELESS) {
                return new Name(shown, 0, 0);
            }
            return new Name(shown, naming == Naming.NAMELESS ? Math.min(first, now) : now, now);
        }
    }

    NewSource with(Usage other) {
        return new NewSource(source, from, name, since, other);
    }

    NewSource with(Name other) {
        return new NewSource(source, from, other, since, usage);
    }

    boolean isResolved() {
        return name.naming == Naming.RESOLVED;
    }

    /** Whether it may give way: nameless for a while, and few enough webhooks to end them all at once. */
    boolean mayGiveWay() {
        return name.naming == Naming.NAMELESS && name.last - name.first >= Naming.PATIENCE.toMillis()
                && usage.entries() <= WebhookRows.GIVING_WAY;
    }
}
