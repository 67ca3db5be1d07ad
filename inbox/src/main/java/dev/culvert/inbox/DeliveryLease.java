package dev.culvert.inbox;

import dev.culvert.inbox.dispatch.Dispatcher;
import dev.culvert.inbox.dispatch.InboxMeters;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.DiskRoom;
import dev.culvert.inbox.store.Totals;
import dev.culvert.inbox.store.WebhookRows;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * The right of one process to deliver the webhooks of a folder: takes it, renews it, returns it, and lets the
 * dispatcher deliver as long as it lasts. Safe for use by any thread.
 */
final class DeliveryLease {
    private static final Logger log = LoggerFactory.getLogger(DeliveryLease.class);
    /** The time between the last attempt begun under a lease and the lease's end. */
    private static final long MARGIN_MILLIS = 2000;

    private final InboxSetup setup;
    private final DiskRoom room;
    private final CommitThread commits;
    private final Dispatcher dispatcher;
    private final InboxMeters meters;
    /** Whether this process does not take the lease any more. */
    private volatile boolean released;
    /** The time to renew the lease. Written by the commit thread. */
    private volatile long renewAt;

    DeliveryLease(InboxSetup setup, DiskRoom room, CommitThread commits, Dispatcher dispatcher,
            InboxMeters meters) {
        this.setup = setup;
        this.room = room;
        this.commits = commits;
        this.dispatcher = dispatcher;
        this.meters = meters;
    }

    private record Beat(Set<String> paused, Map<WebhookState, Long> counts,
            @Nullable List<SourceKey> taken) {}

    /** Runs each second: takes or renews the lease, and updates counts and pauses. */
    void beat() {
        long now = setup.clock().millis();
        boolean due = now >= renewAt || now < renewAt - SqliteLease.BEAT.toMillis();
        commits.transact(tx -> {
            List<SourceKey> taken = null;
            if (tx.isHolding()) {
                if (due) {
                    tx.renew(); // also while attempts end: another process would send those webhooks again
                }
            } else if (!released) {
                tx.take();
                WebhookRows.boundDue(tx);
                taken = WebhookRows.pendingSources(tx.statements());
            }
            Totals totals = tx.totals();
            room.look(totals.bytes(), tx.reusableBytes());
            return new Beat(WebhookRows.paused(tx.statements()), totals.entries(), taken);
        }).subscribe(beat -> beaten(beat, now, due), this::notBeaten);
    }

    /** Asks for the lease, if another process has it. */
    void ask() {
        if (!dispatcher.isHolding() && !released) {
            beat();
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

    /**
     * Begins no more attempts, waits at most one attempt's time for those in progress, and returns the lease.
     * Completes empty.
     */
    Mono<Void> release() {
        released = true;
        Sinks.Empty<Void> drained = Sinks.empty();
        dispatcher.run(() -> dispatcher.drain(drained::tryEmitEmpty));
        return drained.asMono()
                .timeout(setup.config().attemptTimeout(), Mono.empty(), Schedulers.parallel())
                .then(giveBack())
                .onErrorComplete(StoreException.class);
    }

    /** Abandons the attempts in progress and returns the lease. Completes empty. */
    Mono<Void> close() {
        released = true;
        return giveBack().onErrorComplete();
    }

    private Mono<Void> giveBack() {
        return Mono.defer(() -> {
            dispatcher.run(dispatcher::stop);
            return commits.transact(tx -> {
                tx.giveBack();
                return tx;
            }).then();
        });
    }
}
