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
 * The durable inbox of one part: keeps webhooks on the disk and delivers them. Webhooks come in through {@link InboxRelay}.
 * Several processes may store into one folder; one of them delivers at a time, by a lease, and the next one goes on where it
 * stopped. Safe for use by any thread. Errors of all calls: {@link StoreException}.
 */
public final class Inbox {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration TICK = Duration.ofSeconds(1);
    /** How often a process that waits for the lease asks for it: so soon after a release it delivers. */
    private static final Duration ASK = Duration.ofMillis(250);
    private static final Duration RETENTION = Duration.ofMinutes(1);
    /** Between the end of a lease and the last attempt that is begun under it. */
    private static final long MARGIN_MILLIS = 2000;

    private final InboxSetup setup;
    private final InboxFiles files;
    private final InboxReads reads;
    private final CommitThread commits;
    private final Dispatcher dispatcher;
    private final InboxMeters meters;
    private final Budget memory;
    private final Intakes intakes;
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
     * Opens, or makes, the inbox of a folder: recovers it after a crash, and begins to deliver as soon as no other process does.
     * Errors: {@link StoreException.Failed}. Cancelling leaves it closed.
     */
    public static Mono<Inbox> open(InboxSetup setup) {
        return Mono.fromCallable(() -> of(setup, InboxFiles.open(setup.folder(), setup.clock())))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** One of files that were opened. */
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

    /** A page of webhooks, newest first. */
    public Mono<InboxPage> list(InboxQuery query) {
        return reads.page(query);
    }

    /** One webhook. Empty: there is none of that id. */
    public Mono<InboxEntry> entry(String id) {
        return reads.entry(id);
    }

    /** How many there are in each state, about a second ago. */
    public Map<WebhookState, Long> counts() {
        return meters.counts();
    }

    /** What happens from now on, in the process that delivers. Who does not keep up misses some; never ends. */
    public Flux<InboxEvent> events() {
        return dispatcher.events();
    }

    /**
     * Delivers a webhook again that is delivered or dead: it goes to the end of its source's line. Errors:
     * {@link StoreException.Absent}, {@link StoreException.Conflict} when it is pending or its content is not kept any more.
     */
    public Mono<Void> replay(String id) {
        return change(tx -> WebhookRows.replay(tx, id), again -> dispatcher.run(() -> {
            dispatcher.emit(Kind.REPLAYED, again, "");
            dispatcher.stored(again);
        }));
    }

    /** Forgets a webhook, delivered or not; one that is just under way may still arrive. Errors: {@link StoreException.Absent}. */
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

    /** Sends nothing to an event source until {@link #resume}; survives a restart. What is under way goes on. */
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
     * Forgets all webhooks of an event source, delivered or not; those that are just under way may still arrive. Emits how many.
     *
     * @param state only those in this state; null: all
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

    /** Forgets all webhooks of a runtime that was deleted. */
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

    /** Whether this process delivers; else another one does, or none may yet. */
    public boolean isDelivering() {
        return dispatcher.isHolding();
    }

    /** A runtime's tunnel is there, or its cluster's policy changed: what waits for that is sent. */
    public void reachable(String runtimeId) {
        dispatcher.run(() -> dispatcher.reachable(runtimeId));
    }

    /**
     * Lets another process deliver: begins nothing more, lets what is under way end for at most an attempt's time, and gives the
     * lease back. Webhooks are still stored. Completes empty.
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

    /** Ends delivery at once, commits what waits and closes the files. Completes empty. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            released = true;
            ticks.dispose();
            return giveBack().onErrorComplete();
        })
                .then(Mono.fromRunnable(dispatcher::close))
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

    /** Of webhooks that arrived, until they are delivered or wait on the disk alone. */
    public Budget memory() {
        return memory;
    }

    /** Of webhooks that are arriving. */
    public Intakes intakes() {
        return intakes;
    }

    /** Why webhooks are refused though all else works, for {@code /readyz}; null: they are not. Any thread. */
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

    /** Stores a webhook. Either is told, on any thread, once: {@code done} after the fsync. */
    public void store(IncomingWebhook draft, Consumer<Receipt> done, Consumer<StoreException> failed) {
        if (!room.take(draft.rowBytes())) {
            failed.accept(new StoreException.Full(room.reason()));
            return;
        }
        var quota = new InboxQuota(setup.config());
        commits.submit(tx -> {
            quota.check(tx, draft);
            return WebhookRows.store(tx, draft, dispatcher::isIdle);
        }, draft.rowBytes(), receipt -> {
            done.accept(receipt);
            dispatcher.run(() -> {
                switch (receipt) {
                    case Receipt.Stored stored -> dispatcher.stored(stored.pending());
                    case Receipt.Duplicate first -> dispatcher.joined(first, draft.waiter());
                }
            });
        }, failed);
    }

    // ---- what happens by itself ----

    private record Beat(Set<String> paused, Map<WebhookState, Long> counts,
            @Nullable List<SourceKey> taken) {}

    /** What is done each second. */
    public void tick() {
        long now = setup.clock().millis();
        boolean due = now >= renewAt;
        this.<Beat>transact(tx -> {
            List<SourceKey> taken = null;
            if (tx.isHolding()) {
                if (due) {
                    tx.renew(); // also while what is under way ends: another process would send it again
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
            log.atWarn().addKeyValue("reason", failed.getMessage()).log("inbox not written");
        }
    }

    /** What is done each minute. */
    public void forgetOld() {
        var retention = new Retention(setup.config());
        transact(retention::step).doOnNext(step -> removeSpools(step.spools()))
                .repeat()
                .takeUntil(step -> !step.more())
                .subscribe(step -> {}, failed -> {
                    if (!(failed instanceof StoreException.Held)) {
                        log.atWarn()
                                .addKeyValue("reason", failed.getMessage())
                                .log("old webhooks not forgotten");
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
