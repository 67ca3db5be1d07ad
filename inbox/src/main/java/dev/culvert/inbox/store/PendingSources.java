package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.store.NewSource.Name;
import dev.culvert.inbox.store.Transaction.Usage;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The event sources of a runtime that have pending webhooks. Belongs to one transaction. */
final class PendingSources {
    private final Map<String, NewSource> strange = new LinkedHashMap<>();
    private final Map<String, NewSource> described = new HashMap<>();
    private long all;

    /** The usage of a source has changed. */
    void change(String source, Usage before, Usage after, boolean known) {
        all += Boolean.compare(after.entries() > 0, before.entries() > 0);
        if (known || after.entries() <= 0) {
            strange.remove(source);
            return;
        }
        NewSource present = described.get(source);
        strange.put(source, present == null
                ? new NewSource(source, SourceAddress.UNKNOWN, Name.UNCLEAR, 0, after)
                : present.with(after));
    }

    /** Adds what is recorded about a source, which has pending webhooks or is about to have them. */
    void describe(NewSource source) {
        described.put(source.source(), source);
        strange.computeIfPresent(source.source(), (name, present) -> source.with(present.usage()));
    }

    /** Returns what is recorded about a source; null: nothing. */
    @Nullable
    NewSource described(String source) {
        return described.get(source);
    }

    /** The number of all sources. */
    long all() {
        return all;
    }

    /** The sources that are not known to exist. */
    Collection<NewSource> unknown() {
        return strange.values();
    }

    @Nullable
    NewSource unknown(String source) {
        return strange.get(source);
    }

    /** Returns the sum of some unknown sources: their number, and the bytes of their webhooks. */
    Usage sum(Predicate<NewSource> some) {
        long sources = 0;
        long bytes = 0;
        for (NewSource source : strange.values()) {
            if (some.test(source)) {
                sources++;
                bytes += source.usage().bytes();
            }
        }
        return new Usage(sources, bytes);
    }
}
