package dev.culvert.inbox.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored webhook, as operators see it. It has neither fields nor body, which may hold secrets.
 *
 * @param id the id that the caller received as {@code Culvert-Webhook-Id}
 * @param runtimeId the runtime that receives it
 * @param source its event source, as {@code argo/push}; order is kept within a source
 * @param method the method; always POST today
 * @param authority the host that it was sent to
 * @param target the path as sent, without the query, which may hold a secret
 * @param bytes the length of its body
 * @param providerId the provider's id; null if the provider sent none
 * @param state its state
 * @param attempts the known number of attempts that were sent; a process that was killed counted the attempts
 *     that it was about to send
 * @param refused the number of attempts that were refused before the webhook was sent: by its event source's
 *     port, or by the cluster's policy. They are no attempts. Of many, the latest half minute may be missing
 * @param nextAttempt the latest time of the next attempt; null if it is not pending
 * @param outOfOrder whether later webhooks of its source may have been delivered before it
 * @param outcome the last result, as {@code 200} or {@code upstream-timeout}; empty: none yet
 * @param stored the time at which it was stored
 * @param ended the time at which it was delivered or became dead; null: it is pending
 * @param replayable whether its content is still stored
 */
public record InboxEntry(String id, String runtimeId, String source, String method, String authority,
        String target,
        long bytes, @Nullable String providerId, WebhookState state, int attempts, int refused,
        @Nullable Instant nextAttempt,
        boolean outOfOrder, String outcome, Instant stored, @Nullable Instant ended, boolean replayable) {}
