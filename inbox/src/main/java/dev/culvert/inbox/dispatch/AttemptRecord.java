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

    static AttemptRecord delivered(QueuedWebhook webhook, String outcome, @Nullable StoredAnswer answer) {
        return new AttemptRecord(InboxEvent.Kind.DELIVERED, outcome, webhook.failures, 0, webhook.aside,
                true, webhook.remembered ? answer : null);
    }

    /** Creates the record of a final refusal by the event source. */
    static AttemptRecord rejected(QueuedWebhook webhook, String outcome) {
        return dead(webhook, outcome, true);
    }

    /** Creates the record of a webhook that is given up because it could not be sent for too long. */
    static AttemptRecord givenUp(QueuedWebhook webhook, String outcome) {
        return dead(webhook, outcome, false);
    }

    private static AttemptRecord dead(QueuedWebhook webhook, String outcome, boolean passes) {
        return new AttemptRecord(InboxEvent.Kind.DEAD, outcome, webhook.failures, 0, webhook.aside, passes,
                null);
    }

    public static AttemptRecord failed(QueuedWebhook webhook, AttemptResult.Failed result, long now) {
        if (webhook.early) {
            long again = RetrySchedule.unchanged(webhook.next, now, result.asked());
            return new AttemptRecord(InboxEvent.Kind.FAILED, result.outcome(), webhook.failures, again,
                    webhook.aside, false, null);
        }
        int failures = webhook.failures + 1;
        long next = RetrySchedule.next(failures, webhook.attemptBegan, now, result.asked());
        if (next < 0) {
            return new AttemptRecord(InboxEvent.Kind.DEAD, result.outcome(), failures, 0, webhook.aside,
                    false,
                    null);
        }
        boolean aside = webhook.aside || !webhook.ordered || failures >= RetrySchedule.STEPS_ASIDE;
        return new AttemptRecord(InboxEvent.Kind.FAILED, result.outcome(), failures, next, aside, false,
                null);
    }

    /** Whether the webhook has reached its final state. */
    public boolean isEnd() {
        return kind != InboxEvent.Kind.FAILED;
    }

    /** Whether the next webhooks in the line may continue. */
    boolean freesTheLine(QueuedWebhook webhook) {
        return !webhook.aside && (isEnd() || aside);
    }

    /** Returns the job that stores this record. Its result is whether the webhook still existed. */
    Job<Boolean> job(QueuedWebhook webhook) {
        return tx -> isEnd()
                ? WebhookRows.end(tx, webhook,
                        kind == InboxEvent.Kind.DELIVERED ? WebhookState.DELIVERED : WebhookState.DEAD,
                        outcome, answer == null ? null : answer.kept())
                : WebhookRows.retry(tx, webhook.seq, failures, next, aside, webhook.refused, outcome);
    }
}
