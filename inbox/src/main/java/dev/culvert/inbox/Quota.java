package dev.culvert.inbox;

import dev.culvert.edge.sqlite.StoreException;
import java.sql.SQLException;

/**
 * What a runtime's pending webhooks, and each of its event sources', may take up. Refuses the newest: none that was stored is
 * dropped for it. Dead ones are not counted, or whoever sends what is rejected could keep others' out: {@link Retention} bounds
 * them.
 */
record Quota(InboxConfig config) {
    /** Throws {@link StoreException.Full}. */
    void check(Transaction tx, Draft draft) throws SQLException {
        String runtime = draft.runtime();
        String source = draft.route().source();
        if (tx.pending(runtime, "").bytes() + draft.cost() > config.maxRuntimeBytes().bytes()) {
            throw new StoreException.Full("the runtime's webhooks take up all that they may");
        }
        Transaction.Usage used = tx.pending(runtime, source);
        if (used.bytes() + draft.cost() > config.maxSourceBytes().bytes()) {
            throw new StoreException.Full("the event source's webhooks take up all that they may");
        }
        if (used.entries() == 0 && tx.pendingSources(runtime) >= config.maxSources()) {
            throw new StoreException.Full("the runtime has webhooks of too many event sources");
        }
    }
}
