package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.InboxEvent.Kind;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.Naming;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.Waiter;
import dev.culvert.inbox.queue.DispatchPlan;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.InboxReads;
import dev.culvert.inbox.store.WebhookRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/**
 * Sends the webhooks that the {@link DispatchPlan} chooses, while this process has the right to deliver. Its
 * state belongs to its own thread; events from other threads are submitted to it. One class, because each
 * result of an attempt changes the plan, the waiting callers and the database in one fixed order.
 */
public final class Dispatcher implements CommitListener {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
    /**
     * The number of lost attempts after which another one counts as failed: the webhook may be what breaks
     * the tunnel.
     */
    private static final int MAX_LOST = 10;
    /** The number of refusals of a webhook that are stored at once, each by a write. */
    private static final int REFUSALS_STORED = 10;
    /** Further ones are stored this often: a source that is down for days refuses each 5 s. */
    private static final long REFUSALS_STORED_MILLIS = 30_000;
    private static final long AGAIN_MILLIS = 1000;
    private static final Problem STOPPING = Problem.of(Cause.DRAINING, Hop.EDGE,
            "another process delivers from now on");

    private final InboxSetup setup;
    private final CommitThread commits;
    private final InboxReads reads;
    private final InboxMeters meters;
    private final DispatchPlan plan;
    private final DispatchThread thread = new DispatchThread();
    private final Attempts attempts;
    private final Sinks.Many<InboxEvent> events = Sinks.many().multicast().directBestEffort();
    /** The time until which this process may begin attempts, by the clock; 0: it may not. */
    private volatile long holdingUntil;
    private final LeaseTerm term;
    /** Runs when no attempt is in progress; set while draining. Null: attempts begin. */
    private @Nullable Runnable drained;

    public Dispatcher(InboxSetup setup, CommitThread commits, InboxReads reads, InboxMeters meters) {
        this.setup = setup;
        this.commits = commits;
        this.reads = reads;
        this.meters = meters;
        this.term = new LeaseTerm(commits, thread, this::stop);
        this.attempts = new Attempts(setup, reads, term);
        this.plan = new DispatchPlan(setup.config().maxAttempts());
    }

    public Flux<InboxEvent> events() {
        return events.asFlux();
    }

    /** Whether a source has no webhook to deliver. Any thread. */
    public boolean isIdle(String runtime, String source) {
        return plan.isIdle(runtime, source);
    }

    /** Runs {@code task} on the dispatcher's thread. Drops it if the thread has ended. */
    public void run(Runnable task) {
        thread.run(task);
    }

    private long now() {
        return setup.clock().millis();
    }

    public boolean isHolding() {
        return holdingUntil > 0;
    }

    // ---- events of other parts; on the dispatcher's thread, except the listener's ----

    @Override
    public void found(List<SourceKey> others) {
        run(() -> {
            if (isHolding()) {
                others.forEach(plan::found);
                pump();
            }
        });
    }

    @Override
    public void committed(int tasks, long nanos) {
        meters.committed(tasks, nanos);
    }

    /** Starts delivery: this process holds the lease until {@code until}. */
    public void took(List<SourceKey> sources, Set<String> paused, long until) {
        stop(); // the lease may have been lost and taken again between two checks
        term.next();
        plan.clear();
        plan.pause(paused);
        sources.forEach(plan::found);
        holdingUntil = until;
        log.atInfo().addKeyValue("sources", sources.size()).log("delivering webhooks");
        pump();
    }

    public void renewed(long until) {
        if (isHolding()) {
            holdingUntil = until;
            pump();
        }
    }

    /** Stops sending. Attempts in progress are abandoned; their webhooks stay on disk. */
    public void stop() {
        if (!isHolding()) {
            return;
        }
        term.next();
        holdingUntil = 0;
        attempts.abandon(STOPPING);
        plan.flying().forEach(Dispatcher::letGo);
        plan.clear();
    }

    public void stored(QueuedWebhook webhook) {
        emit(Kind.STORED, webhook, "");
        if (!isHolding() || drained != null || !plan.stored(webhook)) {
            webhook.accept();
            webhook.drop();
            return;
        }
        pump();
        if (plan.underWay(webhook.seq) != null) {
            return;
        }
        if (!plan.isFlowing(webhook, now())) {
            webhook.accept();
            webhook.drop();
        } else if (webhook.content != null && !webhook.content.mayWait()) {
            webhook.drop(); // it is read again at its turn
        }
    }

    /** Lets the caller of a duplicate wait with the first webhook's caller, if that one waits. */
    public void joined(Receipt.Duplicate duplicate, Waiter waiter) {
        QueuedWebhook first = duplicate.pending() ? plan.underWay(duplicate.seq()) : null;
        StoredAnswer answer = first != null && first.answer != null ? first.answer : duplicate.answer();
        if (first != null && !first.waiters.isEmpty()) {
            first.waiters.add(waiter);
        } else if (answer != null) {
            waiter.answered(answer);
        } else {
            waiter.pending();
        }
    }

    public void reachable(String runtimeId) {
        plan.reachable(runtimeId);
        pump();
    }

    /** Checks again whether the awaited runtimes are reachable. */
    public void lookForAwaited() {
        for (String runtime : plan.awaited()) {
            if (setup.delivery().isReachable(runtime)) {
                plan.reachable(runtime);
            }
        }
        pump();
    }

    public void pause(Set<String> names) {
        plan.pause(names);
        pump();
    }

    public void deleted(SourceKey source, long seq) {
        plan.deleted(source, seq);
        pump();
    }

    /** Webhooks of invented event sources are dead, because they gave way to a new one's. */
    public void gaveWay(List<QueuedWebhook> webhooks) {
        for (QueuedWebhook gone : webhooks) {
            QueuedWebhook flying = plan.underWay(gone.seq);
            if (flying == null) {
                plan.deleted(new SourceKey(gone.runtime, gone.source, gone.ordered), gone.seq);
            } else {
                flying.withdrawn = true;
            }
            meters.settled(Kind.DEAD, now() - gone.stored);
            emit(Kind.DEAD, gone, WebhookRows.GAVE_WAY);
        }
    }

    public void emit(Kind kind, QueuedWebhook webhook, String outcome) {
        events.tryEmitNext(
                new InboxEvent(kind, webhook.id, webhook.runtime, webhook.source, webhook.begun, outcome));
    }

    // ---- sending ----

    private void pump() {
        if (drained != null) {
            tellDrained();
            return;
        }
        if (isHolding() && plan.isSetBack(now())) {
            log.atWarn().log("the clock was set back: webhooks that wait for a later time are due earlier");
            term.<Boolean>write(tx -> WebhookRows.boundDue(tx), 0, done -> {}, () -> {});
        }
        while (isHolding() && now() < holdingUntil) {
            QueuedWebhook next = plan.next(now(), setup.delivery()::isReachable);
            if (next == null) {
                break;
            }
            begin(next);
        }
        for (DispatchPlan.Load load = plan.pollLoad(); load != null; load = plan.pollLoad()) {
            read(load);
        }
        sleep();
    }

    /** Begins no more attempts. {@code done} runs when those in progress have ended. */
    public void drain(Runnable done) {
        drained = done;
        plan.awaitNothing();
        tellDrained();
    }

    private void tellDrained() {
        Runnable done = drained;
        if (done != null && plan.flying().isEmpty()) {
            done.run();
        }
    }

    private void sleep() {
        long at = plan.nextAt();
        if (at < Long.MAX_VALUE) {
            thread.alarm(at, now(), this::pump);
        }
    }

    private void read(DispatchPlan.Load load) {
        reads.load(load).subscribe(term.only((List<QueuedWebhook> rows) -> {
            plan.loaded(load, rows);
            pump();
        }), term.only((Throwable failed) -> {
            plan.loadFailed(load, now() + AGAIN_MILLIS);
            sleep();
        }));
    }

    /** Stores the attempt's number before it is sent, so that no repetition reuses it. */
    private void begin(QueuedWebhook webhook) {
        webhook.attemptBegan = now();
        if (webhook.reserved) {
            launch(webhook);
            return;
        }
        term.<Boolean>write(tx -> WebhookRows.begin(tx, webhook.seq), 0, there -> {
            if (there) {
                webhook.begun++;
                webhook.reserved = true;
                launch(webhook);
            } else {
                gone(webhook);
            }
        }, () -> postpone(webhook));
    }

    private void launch(QueuedWebhook webhook) {
        attempts.start(webhook, ending -> ended(webhook, ending.result(), ending.answer()),
                () -> postpone(webhook));
    }

    private void ended(QueuedWebhook webhook, AttemptResult result, @Nullable StoredAnswer answer) {
        if (result.wasAnswered()) {
            plan.took(webhook, now() - webhook.attemptBegan);
        }
        tellName(webhook, result);
        switch (result) {
            case AttemptResult.Accepted accepted -> {
                plan.answered(webhook);
                answer(webhook, answer);
                settle(webhook, AttemptRecord.delivered(webhook, accepted.outcome(), answer));
            }
            case AttemptResult.Rejected rejected -> {
                plan.answered(webhook);
                answer(webhook, answer);
                settle(webhook, AttemptRecord.rejected(webhook, rejected.outcome()));
            }
            case AttemptResult.Failed failed -> fail(webhook, failed);
            case AttemptResult.Lost lost -> {
                note(webhook, lost.outcome());
                if (++webhook.lost > MAX_LOST) {
                    fail(webhook, new AttemptResult.Failed(lost.outcome(), null));
                } else if (setup.delivery().isReachable(webhook.runtime)) {
                    postpone(webhook);
                } else {
                    wait(webhook);
                }
            }
            case AttemptResult.Refused refused -> refuse(webhook, refused);
            case AttemptResult.Forbidden forbidden -> forbid(webhook, forbidden, answer);
            case AttemptResult.Away away -> {
                webhook.reserved = true;
                note(webhook, away.outcome());
                wait(webhook);
            }
        }
    }

    /**
     * Stores the reason for the wait and the number of refusals, for operators only: when the reason changes,
     * each of the first refusals, and further ones now and then.
     */
    private void note(QueuedWebhook webhook, String obstacle) {
        boolean counts = webhook.refused <= REFUSALS_STORED
                || now() - webhook.refusedStored >= REFUSALS_STORED_MILLIS;
        if (!obstacle.equals(webhook.obstacle) || webhook.refused > 0 && counts) {
            webhook.obstacle = obstacle;
            webhook.refusedStored = now();
            int refused = webhook.refused;
            boolean unsent = webhook.reserved;
            commits.<Boolean>submit(tx -> WebhookRows.note(tx, webhook.seq, obstacle, refused, unsent), 0,
                    noted -> {}, failed -> {});
        }
    }

    /**
     * Stores what is known of the name of a source that never accepted a webhook, for its quota: when that
     * changes, and that it is still nameless now and then.
     */
    private void tellName(QueuedWebhook webhook, AttemptResult result) {
        Naming naming = webhook.known ? null : result.naming();
        boolean still = naming == Naming.NAMELESS
                && now() - webhook.namingTold >= Naming.PATIENCE.toMillis();
        if (naming != null && (naming != webhook.naming || still)) {
            webhook.naming = naming;
            webhook.namingTold = now();
            commits.<Boolean>submit(tx -> {
                tx.named(webhook.runtime, webhook.source, naming);
                return true;
            }, 0, told -> {}, failed -> {});
        }
    }

    private void refuse(QueuedWebhook webhook, AttemptResult.Refused result) {
        plan.resolved(webhook, !result.nameless(), now());
        webhook.refused++;
        webhook.reserved = true; // this number was not sent
        if (plan.isGivenUp(webhook, now())) {
            webhook.accept();
            settle(webhook, AttemptRecord.givenUp(webhook, result.outcome()));
            return;
        }
        note(webhook, result.outcome());
        postpone(webhook);
    }

    /** Passes the refusal to the caller. The webhook is kept for a while, in case the policy is wrong. */
    private void forbid(QueuedWebhook webhook, AttemptResult.Forbidden result,
            @Nullable StoredAnswer answer) {
        if (answer != null) {
            webhook.waiters.forEach(waiter -> waiter.answered(answer));
            webhook.waiters.clear();
        }
        letGo(webhook);
        webhook.refused++;
        webhook.reserved = true; // this number did not reach the event source
        if (plan.isForbiddenForGood(webhook, now())) {
            settle(webhook, AttemptRecord.givenUp(webhook, result.outcome()));
            return;
        }
        note(webhook, result.outcome());
        plan.forbidden(webhook, now());
        pump();
    }

    private void fail(QueuedWebhook webhook, AttemptResult.Failed result) {
        plan.failed(webhook, now(), result.asked());
        webhook.accept();
        settle(webhook, AttemptRecord.failed(webhook, result, now()));
    }

    private static void answer(QueuedWebhook webhook, @Nullable StoredAnswer answer) {
        if (answer != null) {
            webhook.answer = answer;
            webhook.waiters.forEach(waiter -> waiter.answered(answer));
            webhook.waiters.clear();
        }
        webhook.accept();
    }

    /** Postpones a webhook whose source accepts nothing now. */
    private void postpone(QueuedWebhook webhook) {
        if (webhook.withdrawn) {
            gone(webhook);
            return;
        }
        letGo(webhook);
        plan.refused(webhook, now());
        pump();
    }

    /** Lets a webhook wait for its runtime, which is away. */
    private void wait(QueuedWebhook webhook) {
        if (webhook.withdrawn) {
            gone(webhook);
            return;
        }
        letGo(webhook);
        plan.away(webhook);
        pump();
    }

    private void gone(QueuedWebhook webhook) {
        letGo(webhook);
        plan.ended(webhook);
        pump();
    }

    private static void letGo(QueuedWebhook webhook) {
        webhook.accept();
        webhook.drop();
    }

    /**
     * Stores the result. The next webhooks continue only when it is on disk, so that after a crash none of
     * them was sent before its repetition.
     */
    private void settle(QueuedWebhook webhook, AttemptRecord record) {
        webhook.drop();
        List<QueuedWebhook> outOfOrder = record.passes() ? plan.outOfOrder(webhook) : List.of();
        QueuedWebhook after = record.freesTheLine(webhook) ? plan.follower(webhook, now()) : null;
        QueuedWebhook follower = after == null || after.reserved ? null : after;
        List<Boolean> reserved = new ArrayList<>(1);
        Runnable again = term.only(() -> settle(webhook, record));
        term.<Boolean>write(tx -> {
            reserved.clear();
            for (QueuedWebhook out : outOfOrder) {
                WebhookRows.stepAside(tx, out.seq);
            }
            boolean there = record.job(webhook).run(tx);
            reserved.add(follower != null && WebhookRows.begin(tx, follower.seq));
            return there;
        }, record.answer() == null ? 0 : record.answer().body().length, there -> {
            if (follower != null && reserved.getFirst()) {
                follower.begun++;
                follower.reserved = true;
            }
            if (record.passes()) {
                plan.passed(webhook, now(), outOfOrder);
            }
            settled(webhook, record, there);
        }, () -> thread.later(again, AGAIN_MILLIS));
    }

    private void settled(QueuedWebhook webhook, AttemptRecord record, boolean there) {
        boolean wasAside = webhook.aside;
        webhook.failures = record.failures();
        webhook.early = false;
        if (!there || record.isEnd()) {
            plan.ended(webhook);
        } else {
            webhook.next = record.next();
            webhook.aside = record.aside();
            plan.retried(webhook, wasAside);
        }
        if (there) {
            meters.settled(record.kind(), now() - webhook.stored);
            emit(record.kind(), webhook, record.outcome());
        }
        pump();
    }

    /** Ends the thread. Attempts in progress are abandoned. */
    public void close() {
        run(this::stop);
        thread.close();
    }
}
