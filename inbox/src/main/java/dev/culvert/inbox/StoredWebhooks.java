package dev.culvert.inbox;

import dev.culvert.inbox.dispatch.Dispatcher;
import dev.culvert.inbox.model.BulkResult;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.InboxEvent.Kind;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.PendingWebhooks;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.SourceBacklog;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookHead;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.BulkStep;
import dev.culvert.inbox.store.BulkStep.Deleted;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.DiskRoom;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.InboxReads;
import dev.culvert.inbox.store.KnownSources;
import dev.culvert.inbox.store.Retention;
import dev.culvert.inbox.store.SpoolFolder;
import dev.culvert.inbox.store.Transaction;
import dev.culvert.inbox.store.WebhookRows;
import dev.culvert.inbox.store.WebhookRows.Settled;
import dev.culvert.store.StoreException;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The webhooks that an inbox holds, for operators: lists, replays, pauses and deletes them. Holds no state:
 * each change is a transaction, of which the dispatcher is notified after its commit. Safe for use by any
 * thread. Errors of all calls: {@link StoreException}.
 */
public final class StoredWebhooks {
    private static final Logger log = LoggerFactory.getLogger(StoredWebhooks.class);
    private static final List<WebhookState> REPLAYABLE = List.of(WebhookState.DEAD, WebhookState.DELIVERED);
    private static final List<WebhookState> ALL = List.of(WebhookState.values());
    private static final int PER_CALL = 10_000;
    private static final long LINE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final InboxReads reads;
    private final SpoolFolder spool;
    private final CommitThread commits;
    private final Dispatcher dispatcher;
    private final Retention retention;
    private final DiskRoom room;
    /** Whether {@link #makeRoom} is at work. */
    private final AtomicBoolean making = new AtomicBoolean();
    /** The bytes that were freed for new webhooks since the last log line. */
    private final AtomicLong freed = new AtomicLong();
    private final AtomicLong nextLineNanos = new AtomicLong(System.nanoTime());
    private final BulkChanges bulk;
    private final BulkChanges.Change<QueuedWebhook> replays;
    private final BulkChanges.Change<Deleted> deletions;

    StoredWebhooks(InboxConfig config, Clock clock, InboxReads reads, InboxFiles files,
            CommitThread commits, Dispatcher dispatcher) {
        this.reads = reads;
        this.spool = files.spool();
        this.room = files.room();
        this.commits = commits;
        this.dispatcher = dispatcher;
        this.retention = new Retention(config, room);
        this.bulk = new BulkChanges(reads, clock);
        this.replays = new BulkChanges.Change<>(REPLAYABLE, BulkStep.REPLAYS,
                (selection, page) -> commits.transact(tx -> BulkStep.replay(tx, selection, page, config)),
                this::replayed);
        this.deletions = new BulkChanges.Change<>(ALL, BulkStep.DELETIONS,
                (selection, page) -> commits.transact(tx -> BulkStep.delete(tx, selection, page)),
                gone -> gone.forEach(this::deleted));
    }

    /** Returns a page of webhooks, newest first. */
    public Mono<InboxPage> list(InboxQuery query) {
        return reads.page(query);
    }

    /** Returns one webhook; empty: none has this id. */
    public Mono<InboxEntry> entry(String id) {
        return reads.entry(id);
    }

    /** Returns the webhook that waits first, and the number of those that wait; empty: none waits. */
    public Mono<PendingWebhooks> pending() {
        return reads.pending();
    }

    /** Returns the event sources with the most undelivered webhooks. */
    public Mono<List<SourceBacklog>> backlogs(int limit) {
        return reads.backlogs(limit);
    }

    /**
     * Returns the fields of a webhook and the first bytes of its body, which may hold secrets; empty: it is
     * gone, or its content is.
     */
    public Mono<WebhookHead> head(String id, int most) {
        return reads.head(id, most);
    }

    /**
     * Emits the events from now on, in the process that delivers. A slow subscriber misses some. Never ends.
     */
    public Flux<InboxEvent> events() {
        return dispatcher.events();
    }

    /**
     * Delivers a delivered or dead webhook again: appends it to its source's queue. Errors:
     * {@link StoreException.Absent}; {@link StoreException.Conflict} if it is pending or its content is not
     * kept any more.
     */
    public Mono<Void> replay(String id) {
        return commits.transact(tx -> WebhookRows.replay(tx, id))
                .doOnNext(again -> replayed(List.of(again)))
                .then();
    }

    private void replayed(List<QueuedWebhook> all) {
        dispatcher.run(() -> {
            for (QueuedWebhook again : all) {
                dispatcher.emit(Kind.REPLAYED, again, "");
                dispatcher.stored(again);
            }
        });
    }

    /**
     * Replays the webhooks of a filter, each as {@link #replay(String)}, oldest first. Without ids and state
     * it takes the dead ones. It takes those that are in their state when the first call begins, so that none
     * is replayed twice; concurrent calls replay each once. Pending webhooks may take half of their limits;
     * then the call ends early, or fails with {@link StoreException.Busy} if it replayed none. A filter for
     * pending webhooks fails with {@link StoreException.Conflict}: they are delivered anyway.
     *
     * @param after the {@link BulkResult#next} of the call before; null: this is the first
     * @param limit the maximum number of webhooks of this call
     */
    public Mono<BulkResult> replay(WebhookFilter filter, @Nullable String after, int limit) {
        return Mono.defer(() -> bulk.run(replayable(filter), after, limit, replays));
    }

    /** Deletes the webhooks of a filter, each as {@link #delete}. The rest as for replays. */
    public Mono<BulkResult> purge(WebhookFilter filter, @Nullable String after, int limit) {
        return bulk.run(filter, after, limit, deletions);
    }

    /** Returns the number of webhooks that {@link #replay(WebhookFilter, String, int)} takes now. */
    public Mono<Long> countReplays(WebhookFilter filter) {
        return Mono.defer(() -> bulk.count(replayable(filter), REPLAYABLE));
    }

    private static WebhookFilter replayable(WebhookFilter filter) {
        if (filter.state() == WebhookState.PENDING) {
            throw new StoreException.Conflict(
                    "state: pending webhooks are not replayed (expected: delivered or dead)");
        }
        return filter.ids().isEmpty() && filter.state() == null ? filter.in(WebhookState.DEAD) : filter;
    }

    /** Returns the number of webhooks that {@link #purge(WebhookFilter, String, int)} takes now. */
    public Mono<Long> countPurged(WebhookFilter filter) {
        return bulk.count(filter, ALL);
    }

    /**
     * Stops sending to an event source until {@link #resume}. Survives a restart. Attempts in progress
     * continue.
     */
    public Mono<Void> pause(String runtimeId, String source) {
        return updatePaused("INSERT OR IGNORE INTO paused VALUES (?, ?)", runtimeId, source);
    }

    /** Undoes {@link #pause}. */
    public Mono<Void> resume(String runtimeId, String source) {
        return updatePaused("DELETE FROM paused WHERE runtime = ? AND source = ?", runtimeId, source);
    }

    private Mono<Void> updatePaused(String sql, String runtimeId, String source) {
        return commits.transact(tx -> {
            tx.update(sql, runtimeId, source);
            return WebhookRows.paused(tx.statements());
        }).doOnNext(names -> dispatcher.run(() -> dispatcher.pause(names))).then();
    }

    /**
     * Deletes a webhook, delivered or not. An attempt in progress may still arrive. Errors:
     * {@link StoreException.Absent}.
     */
    public Mono<Void> delete(String id) {
        return commits.transact(tx -> {
            long seq = tx.statements().number("SELECT seq FROM webhooks WHERE id = ?", id);
            return new Deleted(seq, id, WebhookRows.delete(tx, seq));
        }).doOnNext(this::deleted).then();
    }

    /**
     * Deletes all webhooks of an event source, delivered or not. Attempts in progress may still arrive. Emits
     * the number of deleted webhooks.
     *
     * @param state the state of the webhooks to delete; null: all
     */
    public Mono<Long> purge(String runtimeId, String source, @Nullable WebhookState state) {
        WebhookFilter filter = WebhookFilter.of(runtimeId, source, state);
        return purge(filter, null, PER_CALL)
                .expand(done -> done.next() == null ? Mono.empty() : purge(filter, done.next(), PER_CALL))
                .reduce(0L, (sum, done) -> sum + done.changed());
    }

    /** Deletes all webhooks of a deleted runtime. */
    public Mono<Void> forget(String runtimeId) {
        return deleteAll(tx -> {
            List<Deleted> gone = delete(tx, "SELECT seq, '' FROM webhooks WHERE runtime = ? LIMIT ?",
                    runtimeId, Retention.CHUNK);
            tx.update("DELETE FROM paused WHERE runtime = ?", runtimeId);
            KnownSources.forget(tx.statements(), runtimeId);
            return gone;
        }).then();
    }

    private static List<Deleted> delete(Transaction tx, String some, Object... values) throws SQLException {
        record Row(long seq, String id) {}
        List<Deleted> gone = new ArrayList<>();
        for (Row row : tx.statements()
                .list(some, found -> new Row(found.getLong(1), found.getString(2)), values)) {
            gone.add(new Deleted(row.seq, row.id, WebhookRows.delete(tx, row.seq)));
        }
        return gone;
    }

    /** Runs {@code chunk} until it deletes less than a whole chunk. Emits the total. */
    private Mono<Long> deleteAll(CommitThread.Job<List<Deleted>> chunk) {
        return commits.transact(chunk)
                .doOnNext(gone -> gone.forEach(this::deleted))
                .repeat()
                .takeUntil(gone -> gone.size() < Retention.CHUNK)
                .reduce(0L, (sum, gone) -> sum + gone.size());
    }

    private void deleted(Deleted gone) {
        Settled row = gone.row();
        removeSpools(row.spool() == null ? List.of() : List.of(row.spool()));
        dispatcher.run(() -> {
            dispatcher.deleted(new SourceKey(row.runtime(), row.source(), true), gone.seq());
            dispatcher.emit(Kind.DELETED,
                    new QueuedWebhook(gone.seq(), gone.id(), row.runtime(), row.source(), true, 0), "");
        });
    }

    /** Deletes old webhooks. */
    void forgetOld() {
        forget(() -> {});
    }

    /** Deletes kept webhooks, because the disk has little room for new ones. Any thread; never blocks. */
    void makeRoom() {
        if (making.compareAndSet(false, true)) {
            forget(() -> making.set(false));
        }
    }

    private void forget(Runnable ended) {
        commits.transact(retention::step)
                .doOnNext(step -> {
                    removeSpools(step.spools());
                    room.give(step.freed());
                    freed.addAndGet(step.freed());
                })
                .repeat()
                .takeUntil(step -> !step.more())
                .doFinally(any -> {
                    ended.run();
                    logFreed();
                })
                .subscribe(step -> {}, failed -> {
                    if (!(failed instanceof StoreException.Held)) {
                        log.atWarn()
                                .addKeyValue("reason", failed.getMessage())
                                .log("old webhooks could not be deleted");
                    }
                });
    }

    private void logFreed() {
        long next = nextLineNanos.get();
        long now = System.nanoTime();
        if (freed.get() > 0 && now - next >= 0 && nextLineNanos.compareAndSet(next, now + LINE_NANOS)) {
            log.atWarn()
                    .addKeyValue("bytes", freed.getAndSet(0))
                    .log("kept webhooks dropped: the disk has little room for new ones");
        }
    }

    private void removeSpools(List<String> names) {
        if (!names.isEmpty()) {
            reads.files().execute(() -> spool.delete(names));
        }
    }
}
