package dev.culvert.server.store;

import dev.culvert.store.StoreException;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/** Stores the newest entries of the audit log. Errors: {@link StoreException}. */
public interface AuditStore {
    /** The maximum number of entries: some 20 MiB. */
    int MAX_ENTRIES = 100_000;
    /** The maximum age of entries. */
    Duration KEPT = Duration.ofDays(90);

    /**
     * A page of entries, newest first.
     *
     * @param next the start of the next page; 0 when this is the last page
     */
    record Page(List<AuditEntry> entries, long next) {
        public Page {
            entries = List.copyOf(entries);
        }
    }

    /** Stores the entry of a change that used no transaction of the store. Completes empty. */
    Mono<Void> add(AuditEntry entry);

    /**
     * Reads a page.
     *
     * @param from the {@code next} of the previous page, or 0 for the first page
     * @param limit the maximum number of entries
     */
    Mono<Page> page(long from, int limit);
}
