package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.store.StoreException;
import java.sql.SQLException;

/**
 * Limits the pending webhooks of each runtime and of each event source. Over a limit it refuses new webhooks;
 * it never drops stored ones. Event sources that never accepted a webhook, and that no configuration names,
 * share a small part of both limits, so that names invented by callers leave the rest to existing sources.
 * Dead webhooks do not count: otherwise a sender of rejected webhooks could block those of others.
 * {@link Retention} bounds the dead ones.
 */
public record InboxQuota(InboxConfig config) {
    /** Sources that are not known to exist may take one tenth of a runtime's places, and at least ten. */
    private static final int UNKNOWN_SOURCES = 10;
    /** They may take one sixteenth of its bytes, and at least 1 MiB. */
    private static final int UNKNOWN_BYTES = 16;

    private int unknownSources() {
        return Math.max(config.maxSources() / UNKNOWN_SOURCES,
                Math.min(config.maxSources(), UNKNOWN_SOURCES));
    }

    private long unknownBytes() {
        return Math.max(config.maxRuntimeBytes().bytes() / UNKNOWN_BYTES, 1 << 20);
    }

    /** Checks whether a webhook fits. Throws {@link StoreException.Full}. */
    public void check(Transaction tx, IncomingWebhook draft) throws SQLException {
        String runtime = draft.runtime();
        String source = draft.route().source();
        if (tx.pending(runtime, "").bytes() + draft.cost() > config.maxRuntimeBytes().bytes()) {
            throw new StoreException.Full("the runtime's pending webhooks have reached their limit");
        }
        Transaction.Usage used = tx.pending(runtime, source);
        if (used.bytes() + draft.cost() > config.maxSourceBytes().bytes()) {
            throw new StoreException.Full("the event source's pending webhooks have reached their limit");
        }
        if (used.entries() == 0 && tx.pendingSources(runtime).all() >= config.maxSources()) {
            throw new StoreException.Full("the runtime has webhooks of too many event sources");
        }
        if (draft.route().named() || tx.isKnown(runtime, source)) {
            return;
        }
        Transaction.PendingSources pending = tx.pendingSources(runtime);
        if (used.entries() == 0 && pending.unknown() >= unknownSources()) {
            throw new StoreException.Full(
                    "the runtime has webhooks of too many event sources that never accepted one");
        }
        if (pending.unknownBytes() + draft.cost() > unknownBytes()) {
            throw new StoreException.Full(
                    "webhooks of event sources that never accepted one have reached their limit");
        }
    }
}
