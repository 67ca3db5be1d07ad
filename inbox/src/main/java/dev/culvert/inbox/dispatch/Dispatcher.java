package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.InboxEvent.Kind;
import dev.culvert.inbox.model.InboxSetup;
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
    private final LeaseTerm tenure;
    /** Runs when no attempt is in progress; set while draining. Null: attempts begin. */
    private @Nullable Runnable drained;

    public Dispatcher(InboxSetup setup, CommitThread commits, InboxReads reads, InboxMeters meters) {
        this.setup = setup;
        this.commits = commits;
        this.reads = reads;
        this.meters = meters;
        this.tenure = new LeaseTerm(commits, thread, this::stop);
        this.attempts = new Attempts(setup, reads, tenure);
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
        tenure.next();
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
        tenure.next();
        holdingUntil = 0;
        attempts.abandon(STOPPING);
        plan.flying().forEach(Dispatcher::letGo);
        plan.clear();
    }

    public void stored(QueuedWebhook pending) {
        emit(Kind.STORED, pending, "");
        if (!isHolding() || drained != null || !plan.stored(pending)) {
            pending.accept();
            pending.drop();
            return;
        }
        pump();
        if (plan.underWay(pending.seq) != null) {
            return;
        }
        if (!plan.isFlowing(pending, now())) {
            pending.accept();
            pending.drop();
        } else if (pending.content != null && !pending.content.mayWait()) {
            pending.drop(); // it is read again at its turn
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

    public void emit(Kind kind, QueuedWebhook pending, String outcome) {
        events.tryEmitNext(
                new InboxEvent(kind, pending.id, pending.runtime, pending.source, pending.begun, outcome));
    }

    // ---- sending ----

    private void pump() {
        if (drained != null) {
            tellDrained();
            return;
        }
        if (isHolding() && plan.isSetBack(now())) {
            log.atWarn().log("the clock was set back: webhooks that wait for a later time are due earlier");
            tenure.<Boolean>write(tx -> WebhookRows.boundDue(tx), 0, done -> {}, () -> {});
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
        reads.load(load).subscribe(tenure.only((List<QueuedWebhook> rows) -> {
            plan.loaded(load, rows);
            pump();
        }), tenure.only((Throwable failed) -> {
            plan.loadFailed(load, now() + AGAIN_MILLIS);
            sleep();
        }));
    }

    /** Stores the attempt's number before it is sent, so that no repetition reuses it. */
    private void begin(QueuedWebhook pending) {
        pending.attemptBegan = now();
        if (pending.reserved) {
            launch(pending);
            return;
        }
        tenure.<Boolean>write(tx -> WebhookRows.begin(tx, pending.seq), 0, there -> {
            if (there) {
                pending.begun++;
                pending.reserved = true;
                launch(pending);
            } else {
                gone(pending);
            }
        }, () -> postpone(pending));
    }

    private void launch(QueuedWebhook pending) {
        attempts.start(pending, ending -> ended(pending, ending.result(), ending.answer()),
                () -> postpone(pending));
    }

    private void ended(QueuedWebhook pending, AttemptResult result, @Nullable StoredAnswer answer) {
        if (result.wasAnswered()) {
            plan.took(pending, now() - pending.attemptBegan);
        }
        tellName(pending, result);
        switch (result) {
            case AttemptResult.Accepted accepted -> {
                plan.answered(pending);
                answer(pending, answer);
                settle(pending, AttemptRecord.delivered(pending, accepted.outcome(), answer));
            }
            case AttemptResult.Rejected rejected -> {
                plan.answered(pending);
                answer(pending, answer);
                settle(pending, AttemptRecord.rejected(pending, rejected.outcome()));
            }
            case AttemptResult.Failed failed -> fail(pending, failed);
            case AttemptResult.Lost lost -> {
                note(pending, lost.outcome());
                if (++pending.lost > MAX_LOST) {
                    fail(pending, new AttemptResult.Failed(lost.outcome(), null));
                } else if (setup.delivery().isReachable(pending.runtime)) {
                    postpone(pending);
                } else {
                    wait(pending);
                }
            }
            case AttemptResult.Refused refused -> refuse(pending, refused);
            case AttemptResult.Forbidden forbidden -> forbid(pending, forbidden, answer);
            case AttemptResult.Away away -> {
                pending.reserved = true;
                note(pending, away.outcome());
                wait(pending);
            }
        }
    }

    /**
     * Stores the reason for the wait and the number of refusals, for operators only: when the reason changes,
     * each of the first refusals, and further ones now and then.
     */
    private void note(QueuedWebhook pending, String obstacle) {
        boolean counts = pending.refused <= REFUSALS_STORED
                || now() - pending.refusedStored >= REFUSALS_STORED_MILLIS;
        if (!obstacle.equals(pending.obstacle) || pending.refused > 0 && counts) {
            pending.obstacle = obstacle;
            pending.refusedStored = now();
            int refused = pending.refused;
            boolean unsent = pending.reserved;
            commits.<Boolean>submit(tx -> WebhookRows.note(tx, pending.seq, obstacle, refused, unsent), 0,
                    noted -> {}, failed -> {});
        }
    }

    /** Stores whether the name of a source resolves that never accepted a webhook, for its quota. */
    private void tellName(QueuedWebhook pending, AttemptResult result) {
        Boolean resolves = pending.known ? null : result.resolves();
        if (resolves != null && !resolves.equals(pending.resolves)) {
            pending.resolves = resolves;
            commits.<Boolean>submit(tx -> {
                tx.named(pending.runtime, pending.source, resolves);
                return true;
            }, 0, told -> {}, failed -> {});
        }
    }

    private void refuse(QueuedWebhook pending, AttemptResult.Refused result) {
        plan.resolved(pending, !result.nameless(), now());
        pending.refused++;
        pending.reserved = true; // this number was not sent
        if (plan.isGivenUp(pending, now())) {
            pending.accept();
            settle(pending, AttemptRecord.givenUp(pending, result.outcome()));
            return;
        }
        note(pending, result.outcome());
        postpone(pending);
    }

    /** Passes the refusal to the caller. The webhook is kept for a while, in case the policy is wrong. */
    private void forbid(QueuedWebhook pending, AttemptResult.Forbidden result,
            @Nullable StoredAnswer answer) {
        if (answer != null) {
            pending.waiters.forEach(waiter -> waiter.answered(answer));
            pending.waiters.clear();
        }
        letGo(pending);
        pending.refused++;
        pending.reserved = true; // this number did not reach the event source
        if (plan.isForbiddenForGood(pending, now())) {
            settle(pending, AttemptRecord.givenUp(pending, result.outcome()));
            return;
        }
        note(pending, result.outcome());
        plan.forbidden(pending, now());
        pump();
    }

    private void fail(QueuedWebhook pending, AttemptResult.Failed result) {
        plan.failed(pending, now(), result.asked());
        pending.accept();
        settle(pending, AttemptRecord.failed(pending, result, now()));
    }

    private static void answer(QueuedWebhook pending, @Nullable StoredAnswer answer) {
        if (answer != null) {
            pending.answer = answer;
            pending.waiters.forEach(waiter -> waiter.answered(answer));
            pending.waiters.clear();
        }
        pending.accept();
    }

    /** Postpones a webhook whose source accepts nothing now. */
    private void postpone(QueuedWebhook pending) {
        if (pending.withdrawn) {
            gone(pending);
            return;
        }
        letGo(pending);
        plan.refused(pending, now());
        pump();
    }

    /** Lets a webhook wait for its runtime, which is away. */
    private void wait(QueuedWebhook pending) {
        if (pending.withdrawn) {
            gone(pending);
            return;
        }
        letGo(pending);
        plan.away(pending);
        pump();
    }

    private void gone(QueuedWebhook pending) {
        letGo(pending);
        plan.ended(pending);
        pump();
    }

    private static void letGo(QueuedWebhook pending) {
        pending.accept();
        pending.drop();
    }

    /**
     * Stores the result. The next webhooks continue only when it is on disk, so that after a crash none of
     * them was sent before its repetition.
     */
    private void settle(QueuedWebhook pending, AttemptRecord settlement) {
        pending.drop();
        List<QueuedWebhook> outOfOrder = settlement.passes() ? plan.outOfOrder(pending) : List.of();
        QueuedWebhook after = settlement.freesTheLine(pending) ? plan.follower(pending, now()) : null;
        QueuedWebhook follower = after == null || after.reserved ? null : after;
        List<Boolean> reserved = new ArrayList<>(1);
        Runnable again = tenure.only(() -> settle(pending, settlement));
        tenure.<Boolean>write(tx -> {
            reserved.clear();
            for (QueuedWebhook out : outOfOrder) {
                WebhookRows.stepAside(tx, out.seq);
            }
            boolean there = settlement.job(pending).run(tx);
            reserved.add(follower != null && WebhookRows.begin(tx, follower.seq));
            return there;
        }, settlement.answer() == null ? 0 : settlement.answer().body().length, there -> {
            if (follower != null && reserved.getFirst()) {
                follower.begun++;
                follower.reserved = true;
            }
            if (settlement.passes()) {
                plan.passed(pending, now(), outOfOrder);
            }
            settled(pending, settlement, there);
        }, () -> thread.later(again, AGAIN_MILLIS));
    }

    private void settled(QueuedWebhook pending, AttemptRecord settlement, boolean there) {
        boolean wasAside = pending.aside;
        pending.failures = settlement.failures();
        pending.early = false;
        if (!there || settlement.isEnd()) {
            plan.ended(pending);
        } else {
            pending.next = settlement.next();
            pending.aside = settlement.aside();
            plan.retried(pending, wasAside);
        }
        if (there) {
            meters.settled(settlement.kind(), now() - pending.stored);
            emit(settlement.kind(), pending, settlement.outcome());
        }
        pump();
    }

    /** Ends the thread. Attempts in progress are abandoned. */
    public void close() {
        run(this::stop);
        thread.close();
    }
}
