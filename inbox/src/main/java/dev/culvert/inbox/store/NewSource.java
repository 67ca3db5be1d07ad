package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
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
    /** Whether the cluster resolves the source's name. The numbers are stored. */
    enum Name {
        /** No attempt has shown it yet. */
        UNTRIED(0),
        /** The cluster has no such name. */
        NAMELESS(1),
        /** There is such a name. */
        RESOLVED(2);

        final int number;

        Name(int number) {
            this.number = number;
        }

        static Name at(int number) {
            for (Name name : values()) {
                if (name.number == number) {
                    return name;
                }
            }
            throw new IllegalArgumentException("name: " + number + " (expected: 0..2)");
        }
    }

    NewSource with(Usage other) {
        return new NewSource(source, from, name, since, other);
    }

    NewSource with(Name other) {
        return new NewSource(source, from, other, since, usage);
    }

    boolean isResolved() {
        return name == Name.RESOLVED;
    }
}
