package dev.culvert.inbox;

import dev.culvert.inbox.CommitThread.Job;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt leaves behind on the disk.
 *
 * @param kind what it means for the webhook
 * @param outcome the answer in words
 * @param failures attempts that failed by now
 * @param next when it is tried again
 * @param aside whether it stands aside from now on
 * @param answer what duplicates are answered; null: nothing is kept
 */
record Settlement(InboxEvent.Kind kind, String outcome, int failures, long next, boolean aside,
        @Nullable Answer answer) {

    static Settlement delivered(Pending pending, String outcome, @Nullable Answer answer) {
        return new Settlement(InboxEvent.Kind.DELIVERED, outcome, pending.failures, 0, pending.aside,
                pending.remembered ? answer : null);
    }

    static Settlement dead(Pending pending, String outcome) {
        return new Settlement(InboxEvent.Kind.DEAD, outcome, pending.failures, 0, pending.aside, null);
    }

    static Settlement failed(Pending pending, AttemptResult.Failed result, long now) {
        int failures = pending.failures + 1;
        long next = RetrySchedule.next(failures, pending.attemptBegan, now, result.asked());
        if (next < 0) {
            return new Settlement(InboxEvent.Kind.DEAD, result.outcome(), failures, 0, pending.aside, null);
        }
        boolean aside = pending.aside || !pending.ordered || failures >= RetrySchedule.STEPS_ASIDE;
        return new Settlement(InboxEvent.Kind.FAILED, result.outcome(), failures, next, aside, null);
    }

    /** Whether nothing is to be delivered any more. */
    boolean isEnd() {
        return kind != InboxEvent.Kind.FAILED;
    }

    /** Whether those behind it in the line may go on. */
    boolean freesTheLine(Pending pending) {
        return !pending.aside && (isEnd() || aside);
    }

    /** Writes it; tells whether the webhook was still there. */
    Job<Boolean> job(long seq) {
        return tx -> isEnd()
                ? WebhookRows.end(tx, seq,
                        kind == InboxEvent.Kind.DELIVERED ? WebhookState.DELIVERED : WebhookState.DEAD,
                        outcome, answer == null ? null : answer.encode())
                : WebhookRows.retry(tx, seq, failures, next, aside, outcome);
    }
}
