package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.store.BulkSelection.Candidate;
import dev.culvert.inbox.store.BulkSelection.Page;
import dev.culvert.inbox.store.WebhookRows.Settled;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The change of one page of webhooks in one transaction. A webhook that left the selection since the page was
 * read is not changed, so that concurrent changes of the same webhooks change each once.
 */
public final class BulkStep {
    /** The maximum number of webhooks in one transaction, during which other tasks wait. */
    public static final int REPLAYS = 100;
    public static final int DELETIONS = Retention.CHUNK;

    private BulkStep() {}

    /**
     * A deleted webhook.
     *
     * @param row its row before
     */
    public record Deleted(long seq, String id, Settled row) {}

    /**
     * The result of a step.
     *
     * @param changed the changed webhooks, in the order of their event sources
     * @param skipped the number of webhooks without content
     * @param position behind the last webhook that was looked at
     * @param full why further webhooks can't be changed now; null: they can
     */
    public record Done<T>(List<T> changed, long skipped, BulkCursor position, @Nullable String full) {}

    /** Deletes the webhooks of a page. */
    public static Done<Deleted> delete(Transaction tx, BulkSelection selection, Page page)
            throws SQLException {
        List<Deleted> gone = new ArrayList<>();
        for (long seq : page.seqs()) {
            Candidate found = selection.row(tx.statements(), seq, page.from());
            if (found != null) {
                gone.add(new Deleted(seq, found.id(), WebhookRows.delete(tx, seq)));
            }
        }
        return new Done<>(gone, 0, page.from().after(page.seqs().getLast()), null);
    }

    /**
     * Appends the webhooks of a page to the queues of their event sources. Stops when pending webhooks take
     * half of their limit: the other half stays free for new ones.
     */
    public static Done<QueuedWebhook> replay(Transaction tx, BulkSelection selection, Page page,
            InboxConfig limits) throws SQLException {
        List<QueuedWebhook> again = new ArrayList<>();
        long skipped = 0;
        BulkCursor position = page.from();
        for (long seq : page.seqs()) {
            Candidate found = selection.row(tx.statements(), seq, page.from());
            Settled row = found == null ? null : WebhookRows.row(tx, seq);
            if (found != null && row != null && found.replayable()) {
                String full = full(tx, row, limits);
                if (full != null) {
                    return new Done<>(again, skipped, position, full);
                }
                again.add(WebhookRows.append(tx, seq, row));
            } else if (found != null) {
                skipped++;
            }
            position = page.from().after(seq);
        }
        return new Done<>(again, skipped, position, null);
    }

    private static @Nullable String full(Transaction tx, Settled row, InboxConfig limits)
            throws SQLException {
        Transaction.Usage ofSource = tx.pending(row.runtime(), row.source());
        Transaction.Usage ofRuntime = tx.pending(row.runtime(), "");
        if (ofSource.entries() > 0 && ofSource.bytes() + row.cost() > limits.maxSourceBytes().bytes() / 2) {
            return "pending webhooks of " + row.source() + " take half of inbox.maxSourceBytes";
        }
        if (ofRuntime.entries() > 0
                && ofRuntime.bytes() + row.cost() > limits.maxRuntimeBytes().bytes() / 2) {
            return "pending webhooks of the runtime take half of inbox.maxRuntimeBytes";
        }
        return ofSource.entries() == 0 && tx.pendingSources(row.runtime()).all() > limits.maxSources() / 2
                ? "half of inbox.maxSources have pending webhooks"
                : null;
    }
}
