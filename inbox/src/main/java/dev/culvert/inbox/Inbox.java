package dev.culvert.inbox;

import dev.culvert.inbox.dispatch.Dispatcher;
import dev.culvert.inbox.dispatch.InboxMeters;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.intake.WebhookIntake;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.InboxReads;
import dev.culvert.inbox.store.KnownSources;
import dev.culvert.inbox.store.RelayedCommits;
import dev.culvert.store.StoreException;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The durable inbox of one part: stores webhooks on disk and delivers them. Opens and closes its parts, and
 * starts their periodic work: {@link WebhookIntake} stores what {@link InboxRelay} receives, {@link
 * Dispatcher} delivers, {@link StoredWebhooks} serves operators. Several processes may store into one folder.
 * One of them delivers at a time, by a {@link DeliveryLease}, and the next one continues where it stopped.
 * Safe for use by any thread. Errors of all calls: {@link StoreException}.
 */
public final class Inbox {
    private static final Duration BEAT = Duration.ofSeconds(1);
    /**
     * The interval at which a waiting process asks for the lease, and so the maximum delay of delivery after
     * a release.
     */
    private static final Duration ASK = Duration.ofMillis(250);
    private static final Duration RETENTION = Duration.ofMinutes(1);

    private final InboxFiles files;
    private final InboxReads reads;
    private final Dispatcher dispatcher;
    private final WebhookIntake intake;
    private final Disposable.Composite timers = Disposables.composite();
    final InboxMeters meters;
    final CommitThread commits;
    final DeliveryLease lease;
    final StoredWebhooks webhooks;

    private Inbox(InboxSetup setup, InboxFiles files) {
        this.files = files;
        this.meters = new InboxMeters(setup.meters());
        this.reads = new InboxReads(files);
        var relayed = new RelayedCommits(reads.files());
        this.commits = new CommitThread(files.file(), files.writes(), files.lease(), setup.clock(), relayed,
                new KnownSources(setup.config().maxSources()), files.mark(), files.known());
        this.dispatcher = new Dispatcher(setup, commits, reads, meters);
        relayed.to = dispatcher;
        this.intake = new WebhookIntake(setup, files, reads.files(), commits, dispatcher, meters);
        this.webhooks = new StoredWebhooks(setup.config(), setup.clock(), reads, files, commits, dispatcher);
        files.room().whenShort(webhooks::makeRoom);
        this.lease = new DeliveryLease(setup, files.room(), commits, dispatcher, meters);
        meters.watch(commits::queued, intake::memoryUsed);
        meters.lost(files.lost());
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
        lease.beat();
        every(BEAT, lease::beat);
        every(ASK, lease::ask);
        every(RETENTION, webhooks::forgetOld);
    }

    private void every(Duration interval, Runnable work) {
        timers.add(Flux.interval(interval, Schedulers.parallel())
                .onBackpressureDrop()
                .subscribe(any -> work.run()));
    }

    /** The entrance for webhooks. */
    public WebhookIntake intake() {
        return intake;
    }

    /** The webhooks in it, for operators. */
    public StoredWebhooks webhooks() {
        return webhooks;
    }

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
        return lease.release();
    }

    /** Stops delivery at once, commits the waiting changes and closes the files. Completes empty. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            timers.dispose();
            return lease.close();
        })
                .then(Mono.fromRunnable(dispatcher::close))
                .then(Mono.fromRunnable(intake::close))
                .then(Mono.defer(() -> Mono.fromFuture(commits.close())))
                .then(Mono.defer(reads::close))
                .then(Mono.<Void>fromCallable(() -> {
                    files.spool().close();
                    meters.close();
                    return null;
                }).subscribeOn(Schedulers.boundedElastic()));
    }
}
