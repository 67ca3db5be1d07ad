package dev.culvert.inbox.store;

import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.Transaction.Usage;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;

/**
 * Counts the webhooks in each state, and their bytes. Kept in memory, and read again only if another process
 * has changed the database. Belongs to the commit thread.
 */
public final class Totals {
    private final Map<WebhookState, Usage> states = new EnumMap<>(WebhookState.class);
    /** SQLite's counter of changes by other processes (sqlite.org/pragma.html#pragma_data_version). */
    private long version = -1;

    /** Reads the totals again if another process has changed the database. */
    void refresh(Statements statements) throws SQLException {
        long now = statements.number("PRAGMA data_version");
        if (now == version) {
            return;
        }
        for (WebhookState state : WebhookState.values()) {
            Usage usage = statements.first(
                    "SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) FROM usage"
                            + " WHERE source = '' AND state = ?",
                    row -> new Usage(row.getLong(1), row.getLong(2)), state.number());
            states.put(state, usage == null ? Usage.NONE : usage);
        }
        version = now;
    }

    /** Adds the changes of a transaction of this process. Called after its commit. */
    void add(Map<WebhookState, Usage> changes) {
        changes.forEach((state, usage) -> states.merge(state, usage, Usage::plus));
    }

    public Map<WebhookState, Long> entries() {
        Map<WebhookState, Long> entries = new EnumMap<>(WebhookState.class);
        states.forEach((state, usage) -> entries.put(state, usage.entries()));
        return entries;
    }

    public long bytes() {
        return states.values().stream().mapToLong(Usage::bytes).sum();
    }
}
