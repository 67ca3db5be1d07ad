package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.store.StoreException;
import java.sql.SQLException;

/**
 * What a runtime's pending webhooks, and each of its event sources', may take up. Refuses the newest: none that was stored is
 * dropped for it. Event sources that never accepted a webhook, and that no configuration names, share a small part of both, so that
 * names which callers invent leave the rest to those that are there. Dead ones are not counted, or whoever sends what is rejected could keep others' out: {@link Retention} bounds
 * them.
 */
public record InboxQuota(InboxConfig config) {
    /** Of a runtime's sources, those that are not known to be there may have a tenth of the places; ten at least. */
    private static final int UNKNOWN_SOURCES = 10;
    /** And a sixteenth of its bytes; 1 MiB at least. */
    private static final int UNKNOWN_BYTES = 16;

    private int unknownSources() {
        return Math.max(config.maxSources() / UNKNOWN_SOURCES,
                Math.min(config.maxSources(), UNKNOWN_SOURCES));
    }

    private long unknownBytes() {
        return Math.max(config.maxRuntimeBytes().bytes() / UNKNOWN_BYTES, 1 << 20);
    }

    /** Throws {@link StoreException.Full}. */
    public void check(Transaction tx, IncomingWebhook draft) throws SQLException {
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
        if (draft.route().named() || tx.isKnown(runtime, source)) {
            return;
        }
        Transaction.Usage unknown = tx.pendingOfUnknown(runtime);
        if (used.entries() == 0 && unknown.entries() >= unknownSources()) {
            throw new StoreException.Full(
                    "the runtime has webhooks of too many event sources that never took one");
        }
        if (unknown.bytes() + draft.cost() > unknownBytes()) {
            throw new StoreException.Full(
                    "webhooks of event sources that never took one take up all that they may");
        }
    }
}
