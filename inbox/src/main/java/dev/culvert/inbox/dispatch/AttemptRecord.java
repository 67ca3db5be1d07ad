package dev.culvert.inbox.dispatch;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.queue.RetrySchedule;
import dev.culvert.inbox.store.CommitThread.Job;
import dev.culvert.inbox.store.WebhookRows;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt leaves behind on the disk.
 *
 * @param kind what it means for the webhook
 * @param outcome the answer in words
 * @param failures attempts that failed by now
 * @param next when it is tried again
 * @param aside whether it stands aside from now on
 * @param passes whether the event source answered it for good, so that it is alive
 * @param answer what duplicates are answered; null: nothing is kept
 */
public record AttemptRecord(InboxEvent.Kind kind, String outcome, int failures, long next, boolean aside,
        boolean passes,
        @Nullable StoredAnswer answer) {

    static AttemptRecord delivered(QueuedWebhook pending, String outcome, @Nullable StoredAnswer answer) {
        return new AttemptRecord(InboxEvent.Kind.DELIVERED, outcome, pending.failures, 0, pending.aside,
                true, pending.remembered ? answer : null);
    }

    /** The event source refuses it for good. */
    static AttemptRecord rejected(QueuedWebhook pending, String outcome) {
        return dead(pending, outcome, true);
    }

    /** It could not be sent for so long that it is given up. */
    static AttemptRecord givenUp(QueuedWebhook pending, String outcome) {
        return dead(pending, outcome, false);
    }

    private static AttemptRecord dead(QueuedWebhook pending, String outcome, boolean passes) {
        return new AttemptRecord(InboxEvent.Kind.DEAD, outcome, pending.failures, 0, pending.aside, passes,
                null);
    }

    public static AttemptRecord failed(QueuedWebhook pending, AttemptResult.Failed result, long now) {
        if (pending.early) {
            long again = RetrySchedule.unchanged(pending.next, now, result.asked());
            return new AttemptRecord(InboxEvent.Kind.FAILED, result.outcome(), pending.failures, again,
                    pending.aside, false, null);
        }
        int failures = pending.failures + 1;
        long next = RetrySchedule.next(failures, pending.attemptBegan, now, result.asked());
        if (next < 0) {
            return new AttemptRecord(InboxEvent.Kind.DEAD, result.outcome(), failures, 0, pending.aside,
                    false,
                    null);
        }
        boolean aside = pending.aside || !pending.ordered || failures >= RetrySchedule.STEPS_ASIDE;
        return new AttemptRecord(InboxEvent.Kind.FAILED, result.outcome(), failures, next, aside, false,
                null);
    }

    /** Whether nothing is to be delivered any more. */
    public boolean isEnd() {
        return kind != InboxEvent.Kind.FAILED;
    }

    /** Whether those behind it in the line may go on. */
    boolean freesTheLine(QueuedWebhook pending) {
        return !pending.aside && (isEnd() || aside);
    }

    /** Writes it; tells whether the webhook was still there. */
    Job<Boolean> job(long seq) {
        return tx -> isEnd()
                ? WebhookRows.end(tx, seq,
                        kind == InboxEvent.Kind.DELIVERED ? WebhookState.DELIVERED : WebhookState.DEAD,
                        outcome, answer == null ? null : answer.kept())
                : WebhookRows.retry(tx, seq, failures, next, aside, outcome);
    }
}
