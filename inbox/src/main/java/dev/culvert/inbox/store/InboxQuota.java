package dev.culvert.inbox.store;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.store.StoreException;
import java.sql.SQLException;
import java.util.List;

/**
 * Limits the pending webhooks of each runtime and of each event source. Over a limit it refuses new webhooks.
 * Dead webhooks do not count: otherwise a sender of rejected webhooks could block those of others.
 * {@link Retention} bounds the dead ones.
 *
 * <p>Event sources that never accepted a webhook, and that no configuration names, have limits of their own
 * ({@link NewSourceShares}), so that names invented by callers leave the rest to existing sources.
 */
public record InboxQuota(InboxConfig config) {

    /**
     * Makes sure that a webhook, which is no duplicate, fits. Returns the webhooks that gave way to it and
     * are dead now. Throws {@link StoreException.Full}; then nothing gave way.
     */
    public List<QueuedWebhook> admit(Transaction tx, IncomingWebhook draft) throws SQLException {
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
            return List.of();
        }
        var shares = new NewSourceShares(config, tx.pendingSources(runtime));
        NewSourceShares.Admission admission = shares.admit(source, draft.from(), draft.cost());
        SourceAddress owner = admission.owner();
        if (!admission.givingWay().isEmpty() && !tx.isHolding()) {
            throw new StoreException.Full(
                    "webhooks of event sources that never accepted one have reached their"
                            + " limit, and another process decides which give way");
        }
        tx.open(runtime, source, owner);
        return WebhookRows.giveWay(tx, runtime, admission.givingWay());
    }
}
