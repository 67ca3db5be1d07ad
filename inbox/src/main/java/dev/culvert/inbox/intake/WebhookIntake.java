package dev.culvert.inbox.intake;

import dev.culvert.inbox.dispatch.Dispatcher;
import dev.culvert.inbox.dispatch.InboxMeters;
import dev.culvert.inbox.model.Budget;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.WebhookIds;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.DiskRoom;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.InboxQuota;
import dev.culvert.inbox.store.SpoolFolder;
import dev.culvert.inbox.store.WebhookRows;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The entrance of an inbox, which all its {@link InboxRelay}s share: limits the webhooks that arrive, stores
 * them, and passes the stored ones to the dispatcher. Safe for use by any thread.
 */
public final class WebhookIntake {
    final InboxSetup setup;
    final InboxMeters meters;
    final DiskRoom room;
    final SpoolFolder spool;
    /** Runs the writes of large bodies. */
    final Executor fileThread;
    final AddressRates rates;
    /** The memory of webhooks that are arriving. */
    final Intakes arriving;
    /** The memory of webhooks that arrived, until they are delivered or are only on disk. */
    final Budget arrived;
    /** The turns in which webhooks that have arrived are stored. */
    final StoreTurns turns;
    private final WebhookIds ids = new WebhookIds();
    private final InboxQuota quota;
    private final CommitThread commits;
    private final Dispatcher dispatcher;

    public WebhookIntake(InboxSetup setup, InboxFiles files, Executor fileThread, CommitThread commits,
            Dispatcher dispatcher, InboxMeters meters) {
        this.setup = setup;
        this.meters = meters;
        this.room = files.room();
        this.spool = files.spool();
        this.fileThread = fileThread;
        this.rates = new AddressRates(setup.config().perAddress());
        long bytes = setup.config().memory().bytes();
        this.arriving = new Intakes(bytes / 2, bytes / 4, setup.config().maxRuntimeBytes().bytes() / 2);
        this.arrived = new Budget(bytes / 2, bytes / 4);
        // Webhooks in delivery keep up to half of a runtime's quarter: this leaves room beside them.
        this.turns = new StoreTurns(bytes / 16);
        this.quota = new InboxQuota(setup.config());
        this.commits = commits;
        this.dispatcher = dispatcher;
    }

    /** The bytes in memory of webhooks that are arriving or are not delivered yet. */
    public long memoryUsed() {
        return arrived.used() + arriving.memoryUsed();
    }

    /**
     * Returns the reason for which webhooks are refused although everything else works, for {@code /readyz};
     * null: they are not refused.
     */
    public @Nullable String trouble() {
        return room.isThere() ? null : "webhooks are refused: " + room.reason();
    }

    String nextId() {
        return ids.next(setup.clock().millis());
    }

    /**
     * Stores a webhook. One callback runs once, on any thread: {@code done} after the fsync.
     *
     * @param turn the webhook's turn. It ends when the webhook is refused, or when the dispatcher has
     *     received it and may release its content
     */
    void store(IncomingWebhook draft, StoreTurns.Turn turn, Consumer<Receipt> done,
            Consumer<StoreException> failed) {
        Consumer<StoreException> refused = why -> {
            failed.accept(why);
            turn.end();
        };
        if (!room.take(draft.rowBytes())) {
            refused.accept(new StoreException.Full(room.reason()));
            return;
        }
        commits.submit(tx -> {
            Receipt first = WebhookRows.duplicate(tx, draft);
            if (first != null) {
                return new Stored(first, List.of());
            }
            List<QueuedWebhook> gaveWay = quota.admit(tx, draft);
            return new Stored(WebhookRows.store(tx, draft, dispatcher::isIdle), gaveWay);
        }, draft.rowBytes(), stored -> {
            try {
                done.accept(stored.receipt);
            } finally {
                dispatcher.run(() -> {
                    dispatcher.gaveWay(stored.gaveWay);
                    dispatch(stored.receipt, draft, turn);
                });
            }
        }, refused);
    }

    /**
     * The result of a webhook's transaction.
     *
     * @param gaveWay the webhooks that are dead, because they gave way to it
     */
    private record Stored(Receipt receipt, List<QueuedWebhook> gaveWay) {}

    private void dispatch(Receipt receipt, IncomingWebhook draft, StoreTurns.Turn turn) {
        try {
            switch (receipt) {
                case Receipt.Stored stored -> dispatcher.stored(stored.pending());
                case Receipt.Duplicate first -> dispatcher.joined(first, draft.waiter());
            }
        } finally {
            turn.end();
        }
    }

    /** Stores the webhooks that wait for their turn. Later ones do not wait. */
    public void close() {
        turns.close();
    }
}
