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
 * The result of an attempt as it is stored.
 *
 * @param kind the change of the webhook's state
 * @param outcome a short description of the result
 * @param failures the number of failed attempts so far
 * @param next the time of the next attempt
 * @param aside whether the webhook stands aside from now on
 * @param passes whether the event source gave its final response, which shows that it works
 * @param answer the response for duplicates; null: none is kept
 */
public record AttemptRecord(InboxEvent.Kind kind, String outcome, int failures, long next, boolean aside,
        boolean passes,
        @Nullable StoredAnswer answer) {

    static AttemptRecord delivered(QueuedWebhook pending, String outcome, @Nullable StoredAnswer answer) {
        return new AttemptRecord(InboxEvent.Kind.DELIVERED, outcome, pending.failures, 0, pending.aside,
                true, pending.remembered ? answer : null);
    }

    /** Creates the record of a final refusal by the event source. */
    static AttemptRecord rejected(QueuedWebhook pending, String outcome) {
        return dead(pending, outcome, true);
    }

    /** Creates the record of a webhook that is given up because it could not be sent for too long. */
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

    /** Whether the webhook has reached its final state. */
    public boolean isEnd() {
        return kind != InboxEvent.Kind.FAILED;
    }

    /** Whether the next webhooks in the line may continue. */
    boolean freesTheLine(QueuedWebhook pending) {
        return !pending.aside && (isEnd() || aside);
    }

    /** Returns the job that stores this record. Its result is whether the webhook still existed. */
    Job<Boolean> job(QueuedWebhook pending) {
        return tx -> isEnd()
                ? WebhookRows.end(tx, pending,
                        kind == InboxEvent.Kind.DELIVERED ? WebhookState.DELIVERED : WebhookState.DEAD,
                        outcome, answer == null ? null : answer.kept())
                : WebhookRows.retry(tx, pending.seq, failures, next, aside, pending.refused, outcome);
    }
}
