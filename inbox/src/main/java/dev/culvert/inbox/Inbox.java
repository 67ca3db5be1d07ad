package dev.culvert.inbox;

import dev.culvert.inbox.dispatch.Dispatcher;
import dev.culvert.inbox.dispatch.InboxMeters;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.Budget;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.InboxEvent.Kind;
import dev.culvert.inbox.model.InboxPage;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.WebhookIds;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.queue.DispatchPlan;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.CommitThread.Job;
import dev.culvert.inbox.store.DiskRoom;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.InboxQuota;
import dev.culvert.inbox.store.InboxReads;
import dev.culvert.inbox.store.KnownSources;
import dev.culvert.inbox.store.RelayedCommits;
import dev.culvert.inbox.store.Retention;
import dev.culvert.inbox.store.SpoolFolder;
import dev.culvert.inbox.store.Statements;
import dev.culvert.inbox.store.Totals;
import dev.culvert.inbox.store.WebhookRows;
import dev.culvert.inbox.store.WebhookRows.Settled;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * The durable inbox of one part: stores webhooks on disk and delivers them. {@link InboxRelay} receives them.
 * Several processes may store into one folder. One of them delivers at a time, by a lease, and the next one
 * continues where it stopped. Safe for use by any thread. Errors of all calls: {@link StoreException}.
 */
public final class Inbox {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration TICK = Duration.ofSeconds(1);
    /**
     * The interval at which a waiting process asks for the lease, and so the maximum delay of delivery after
     * a release.
     */
    private static final Duration ASK = Duration.ofMillis(250);
    private static final Duration RETENTION = Duration.ofMinutes(1);
    /** The time between the last attempt begun under a lease and the lease's end. */
    private static final long MARGIN_MILLIS = 2000;

    private final InboxSetup setup;
    private final InboxFiles files;
    private final InboxReads reads;
    private final CommitThread commits;
    private final Dispatcher dispatcher;
    private final InboxMeters meters;
    private final Budget memory;
    private final Intakes intakes;
    private final StoreTurns turns;
    private final DiskRoom room;
    private final AddressRates rates;
    private final WebhookIds ids = new WebhookIds();
    private final Disposable.Composite ticks = Disposables.composite();
    private volatile boolean released;
    private volatile long renewAt;

    private Inbox(InboxSetup setup, InboxFiles files) {
        this.setup = setup;
        this.files = files;
        long bytes = setup.config().memory().bytes();
        this.memory = new Budget(bytes / 2, bytes / 4);
        this.intakes = new Intakes(bytes / 2, bytes / 4, setup.config().maxRuntimeBytes().bytes() / 2);
        // Webhooks in delivery keep up to half of a runtime's quarter: this leaves room beside them.
        this.turns = new StoreTurns(bytes / 16);
        this.room = files.room();
        this.rates = new AddressRates(setup.config().perAddress());
        this.meters = new InboxMeters(setup.meters());
        this.reads = new InboxReads(files);
        var relayed = new RelayedCommits(reads.files());
        this.commits = new CommitThread(files.file(), files.writes(), files.lease(), setup.clock(), relayed,
                new KnownSources(setup.config().maxSources()), files.known());
        this.dispatcher = new Dispatcher(setup, commits, reads, meters);
        relayed.to = dispatcher;
        meters.watch(commits::queued, () -> memory.used() + intakes.memoryUsed());
    }

    /**
     * Opens or creates the inbox of a folder. Recovers it after a crash, and starts delivery as soon as no
     * other process delivers. Errors: {@link StoreException.Failed}. Cancelling leaves it closed.
     */
    public static Mono<Inbox> open(InboxSetup setup) {
        return Mono.fromCallable(() -> of(setup, InboxFiles.open(setup.folder(), setup.clock())))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** Creates an inbox of open files. */
    static Inbox of(InboxSetup setup, InboxFiles files) {
        var inbox = new Inbox(setup, files);
        inbox.start();
        return inbox;
    }

    private void start() {
        commits.start();
        tick();
        ticks.add(Flux.interval(TICK, Schedulers.parallel()).onBackpressureDrop().subscribe(any -> tick()));
        ticks.add(Flux.interval(ASK, Schedulers.parallel()).onBackpressureDrop().subscribe(any -> ask()));
        ticks.add(Flux.interval(RETENTION, Schedulers.parallel())
                .onBackpressureDrop()
                .subscribe(any -> forgetOld()));
    }

    // ---- for operators ----

    /** Returns a page of webhooks, newest first. */
    public Mono<InboxPage> list(InboxQuery query) {
        return reads.page(query);
    }

    /** Returns one webhook; empty: none has this id. */
    public Mono<InboxEntry> entry(String id) {
        return reads.entry(id);
    }

    /** Returns the number of webhooks in each state, about a second old. */
    public Map<WebhookState, Long> counts() {
        return meters.counts();
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
        return change(tx -> WebhookRows.replay(tx, id), again -> dispatcher.run(() -> {
            dispatcher.emit(Kind.REPLAYED, again, "");
            dispatcher.stored(again);
        }));
    }

    /**
     * Deletes a webhook, delivered or not. An attempt in progress may still arrive. Errors:
     * {@link StoreException.Absent}.
     */
    public Mono<Void> delete(String id) {
        return change(tx -> {
            long seq = tx.statements().number("SELECT seq FROM webhooks WHERE id = ?", id);
            return new Deleted(seq, WebhookRows.delete(tx, seq));
        }, gone -> forgotten(id, gone));
    }

    private record Deleted(long seq, Settled row) {}

    private void forgotten(String id, Deleted gone) {
        Settled row = gone.row;
        removeSpools(row.spool() == null ? List.of() : List.of(row.spool()));
        dispatcher.run(() -> {
            dispatcher.deleted(new SourceKey(row.runtime(), row.source(), true), gone.seq);
            dispatcher.emit(Kind.DELETED,
                    new QueuedWebhook(gone.seq, id, row.runtime(), row.source(), true, 0),
                    "");
        });
    }

    /**
     * Stops sending to an event source until {@link #resume}. Survives a restart. Attempts in progress
     * continue.
     */
    public Mono<Void> pause(String runtimeId, String source) {
        return change(tx -> {
            tx.update("INSERT OR IGNORE INTO paused VALUES (?, ?)", runtimeId, source);
            return paused(tx.statements());
        }, names -> dispatcher.run(() -> dispatcher.pause(names)));
    }

    /** Undoes {@link #pause}. */
    public Mono<Void> resume(String runtimeId, String source) {
        return change(tx -> {
            tx.update("DELETE FROM paused WHERE runtime = ? AND source = ?", runtimeId, source);
            return paused(tx.statements());
        }, names -> dispatcher.run(() -> dispatcher.pause(names)));
    }

    /**
     * Deletes all webhooks of an event source, delivered or not. Attempts in progress may still arrive. Emits
     * the number of deleted webhooks.
     *
     * @param state the state of the webhooks to delete; null: all
     */
    public Mono<Long> purge(String runtimeId, String source, @Nullable WebhookState state) {
        String of = "SELECT seq, id FROM webhooks WHERE runtime = ? AND source = ?"
                + (state == null ? "" : " AND state = " + state.number()) + " ORDER BY state, seq LIMIT ?";
        return this.<Map<String, Deleted>>transact(tx -> {
            Map<String, Long> some = new LinkedHashMap<>();
            tx.statements()
                    .list(of, row -> some.put(row.getString(2), row.getLong(1)), runtimeId, source,
                            Retention.CHUNK);
            Map<String, Deleted> gone = new LinkedHashMap<>();
            for (Map.Entry<String, Long> one : some.entrySet()) {
                gone.put(one.getKey(), new Deleted(one.getValue(), WebhookRows.delete(tx, one.getValue())));
            }
            return gone;
        })
                .doOnNext(gone -> gone.forEach(this::forgotten))
                .repeat()
                .takeUntil(gone -> gone.size() < Retention.CHUNK)
                .reduce(0L, (sum, gone) -> sum + gone.size());
    }

    /** Deletes all webhooks of a deleted runtime. */
    public Mono<Void> forget(String runtimeId) {
        return this.<List<Deleted>>transact(tx -> {
            List<Long> some = tx.statements()
                    .list("SELECT seq FROM webhooks WHERE runtime = ? LIMIT ?",
                            row -> row.getLong(1), runtimeId, Retention.CHUNK);
            List<Deleted> gone = new ArrayList<>();
            for (long seq : some) {
                gone.add(new Deleted(seq, WebhookRows.delete(tx, seq)));
            }
            tx.update("DELETE FROM paused WHERE runtime = ?", runtimeId);
            KnownSources.forget(tx.statements(), runtimeId);
            return gone;
        })
                .doOnNext(gone -> gone.forEach(one -> forgotten("", one)))
                .repeat()
                .takeUntil(gone -> gone.size() < Retention.CHUNK)
                .then();
    }

    // ---- for the part that owns it ----

    /** Whether this process delivers. If not, another one does, or none may yet. */
    public boolean isDelivering() {
        return dispatcher.isHolding();
    }

    /**
     * A runtime's tunnel is connected, or its cluster's policy changed: sends the webhooks that wait for
     * that.
     */
    public void reachable(String runtimeId) {
        dispatcher.run(() -> dispatcher.reachable(runtimeId));
    }

    /**
     * Lets another process deliver: begins no more attempts, waits at most one attempt's time for those in
     * progress, and returns the lease. Webhooks are still stored. Completes empty.
     */
    public Mono<Void> release() {
        released = true;
        Sinks.Empty<Void> drained = Sinks.empty();
        dispatcher.run(() -> dispatcher.drain(drained::tryEmitEmpty));
        return drained.asMono()
                .timeout(setup.config().attemptTimeout(), Mono.empty(), Schedulers.parallel())
                .then(giveBack())
                .onErrorComplete(StoreException.class);
    }

    private Mono<Void> giveBack() {
        return Mono.defer(() -> {
            dispatcher.run(dispatcher::stop);
            return change(tx -> {
                tx.giveBack();
                return tx;
            }, given -> {});
        });
    }

    /** Stops delivery at once, commits the waiting changes and closes the files. Completes empty. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            released = true;
            ticks.dispose();
            return giveBack().onErrorComplete();
        })
                .then(Mono.fromRunnable(dispatcher::close))
                .then(Mono.fromRunnable(turns::close))
                .then(Mono.defer(() -> Mono.fromFuture(commits.close())))
                .then(Mono.defer(reads::close))
                .then(Mono.<Void>fromCallable(() -> {
                    files.spool().close();
                    meters.close();
                    return null;
                }).subscribeOn(Schedulers.boundedElastic()));
    }

    // ---- for InboxRelay ----

    public InboxSetup setup() {
        return setup;
    }

    /** The memory of webhooks that arrived, until they are delivered or are only on disk. */
    public Budget memory() {
        return memory;
    }

    /** The memory of webhooks that are arriving. */
    public Intakes intakes() {
        return intakes;
    }

    /** Returns the turns in which webhooks that have arrived are stored. */
    public StoreTurns turns() {
        return turns;
    }

    /**
     * Returns the reason for which webhooks are refused although everything else works, for {@code /readyz};
     * null: they are not refused. Any thread.
     */
    public @Nullable String trouble() {
        return room.isThere() ? null : "webhooks are refused: " + room.reason();
    }

    public DiskRoom room() {
        return room;
    }

    public AddressRates rates() {
        return rates;
    }

    public InboxMeters meters() {
        return meters;
    }

    public SpoolFolder spool() {
        return files.spool();
    }

    public Executor fileThreads() {
        return reads.files();
    }

    public String nextId() {
        return ids.next(setup.clock().millis());
    }

    /**
     * Stores a webhook. One callback runs once, on any thread: {@code done} after the fsync.
     *
     * @param turn the webhook's turn. It ends when the webhook is refused, or when the dispatcher has
     *     received it and may release its content
     */
    public void store(IncomingWebhook draft, StoreTurns.Turn turn, Consumer<Receipt> done,
            Consumer<StoreException> failed) {
        Consumer<StoreException> refused = why -> {
            failed.accept(why);
            turn.end();
        };
        if (!room.take(draft.rowBytes())) {
            refused.accept(new StoreException.Full(room.reason()));
            return;
        }
        var quota = new InboxQuota(setup.config());
        commits.submit(tx -> {
            quota.check(tx, draft);
            return WebhookRows.store(tx, draft, dispatcher::isIdle);
        }, draft.rowBytes(), receipt -> {
            try {
                done.accept(receipt);
            } finally {
                dispatcher.run(() -> dispatch(receipt, draft, turn));
            }
        }, refused);
    }

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

    // ---- periodic work ----

    private record Beat(Set<String> paused, Map<WebhookState, Long> counts,
            @Nullable List<SourceKey> taken) {}

    /** Runs each second: takes or renews the lease, and updates counts and pauses. */
    public void tick() {
        long now = setup.clock().millis();
        boolean due = now >= renewAt;
        this.<Beat>transact(tx -> {
            List<SourceKey> taken = null;
            if (tx.isHolding()) {
                if (due) {
                    tx.renew(); // also while attempts end: another process would send those webhooks again
                }
            } else if (!released) {
                tx.take();
                taken = WebhookRows.pendingSources(tx.statements());
            }
            Totals totals = tx.totals();
            room.look(totals.bytes());
            return new Beat(paused(tx.statements()), totals.entries(), taken);
        }).subscribe(beat -> beaten(beat, now, due), this::notBeaten);
    }

    private void ask() {
        if (!isDelivering() && !released) {
            tick();
        }
    }

    private void beaten(Beat beat, long now, boolean renewed) {
        meters.counts(beat.counts);
        if (renewed) {
            renewAt = now + SqliteLease.BEAT.toMillis();
        }
        long until = now + SqliteLease.LIFE.toMillis() - MARGIN_MILLIS;
        dispatcher.run(() -> {
            if (beat.taken != null) {
                dispatcher.took(beat.taken, beat.paused, until);
            } else if (renewed) {
                dispatcher.renewed(until);
            }
            dispatcher.pause(beat.paused);
            dispatcher.lookForAwaited();
        });
    }

    private void notBeaten(Throwable failed) {
        if (failed instanceof StoreException.Held) {
            dispatcher.run(dispatcher::stop);
        } else {
            log.atWarn().addKeyValue("reason", failed.getMessage()).log("inbox could not be written");
        }
    }

    /** Runs each minute: deletes old webhooks. */
    public void forgetOld() {
        var retention = new Retention(setup.config());
        transact(retention::step).doOnNext(step -> removeSpools(step.spools()))
                .repeat()
                .takeUntil(step -> !step.more())
                .subscribe(step -> {}, failed -> {
                    if (!(failed instanceof StoreException.Held)) {
                        log.atWarn()
                                .addKeyValue("reason", failed.getMessage())
                                .log("old webhooks could not be deleted");
                    }
                });
    }

    private void removeSpools(List<String> names) {
        if (names.isEmpty()) {
            return;
        }
        reads.files().execute(() -> {
            for (String name : names) {
                try {
                    Files.deleteIfExists(files.spool().file(name));
                } catch (IOException left) {
                    log.atDebug().setCause(left).log("spool file left for the next start");
                }
            }
        });
    }

    private static Set<String> paused(Statements statements) throws SQLException {
        return new HashSet<>(statements.list("SELECT runtime, source FROM paused",
                row -> DispatchPlan.name(row.getString(1), row.getString(2))));
    }

    /** Runs a job in one of the next transactions. */
    public <T> void submit(Job<T> job, Consumer<T> done, Consumer<StoreException> failed) {
        commits.submit(job, 0, done, failed);
    }

    private <T> Mono<T> transact(Job<T> job) {
        return Mono.create(sink -> commits.submit(job, 0, sink::success, sink::error));
    }

    private <T> Mono<Void> change(Job<T> job, Consumer<T> then) {
        return transact(job).doOnNext(then).then();
    }
}
