package dev.culvert.inbox;

import dev.culvert.edge.sqlite.StoreException;
import java.sql.SQLException;

/**
 * What a runtime's undelivered webhooks, and each of its event sources', may take up. Refuses the newest: none that was stored
 * is dropped for it.
 */
record Quota(InboxConfig config) {
    /** Throws {@link StoreException.Full}. */
    void check(Transaction tx, Draft draft) throws SQLException {
        String runtime = draft.runtime();
        String source = draft.route().source();
        if (tx.undelivered(runtime, "").bytes() + draft.cost() > config.maxRuntimeBytes().bytes()) {
            throw new StoreException.Full("the runtime's webhooks take up all that they may");
        }
        Transaction.Usage used = tx.undelivered(runtime, source);
        if (used.bytes() + draft.cost() > config.maxSourceBytes().bytes()) {
            throw new StoreException.Full("the event source's webhooks take up all that they may");
        }
        if (used.entries() == 0 && tx.statements()
                .number(
                        "SELECT count(DISTINCT source) FROM usage WHERE runtime = ? AND source <> ''",
                        runtime) >= config.maxSources()) {
            throw new StoreException.Full("the runtime has webhooks of too many event sources");
        }
    }
}
