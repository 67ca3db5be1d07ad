package dev.culvert.server.store;

import dev.culvert.store.StoreException;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/** Keeps the audit log, newest entries only. Errors: {@link StoreException}. */
public interface AuditStore {
    /** Entries that are kept: some 20 MiB. */
    int MAX_ENTRIES = 100_000;
    /** For how long. */
    Duration KEPT = Duration.ofDays(90);

    /**
     * Some entries, newest first.
     *
     * @param next where the following ones begin; 0 when these were the last
     */
    record Page(List<AuditEntry> entries, long next) {
        public Page {
            entries = List.copyOf(entries);
        }
    }

    /** Keeps the entry of a change that was no transaction of the store. Completes empty. */
    Mono<Void> add(AuditEntry entry);

    /**
     * Reads on from a page's {@code next}.
     *
     * @param from 0 to begin
     * @param limit how many at most
     */
    Mono<Page> page(long from, int limit);
}
