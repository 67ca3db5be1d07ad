package dev.culvert.inbox.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored webhook, as operators see it: without its fields and its body, which may hold secrets.
 *
 * @param id what its caller was told as {@code Culvert-Webhook-Id}
 * @param runtimeId the runtime it is for
 * @param source its event source, as {@code argo/push}: what order is kept in
 * @param method always POST today
 * @param authority the host it was sent to
 * @param target path and query, as sent; the query is left out, as it may hold a secret
 * @param bytes of its body
 * @param providerId what the provider calls it; null when it told nothing
 * @param state what became of it
 * @param attempts how often it was sent, as far as known: a process that was killed counts what it was about to send
 * @param nextAttempt when it is tried again at the latest; null when it is not pending
 * @param outOfOrder whether later ones of its source may have been delivered before it
 * @param outcome the last answer in words, as {@code 200} or {@code upstream-timeout}; empty: none yet
 * @param stored when it came
 * @param ended when it was delivered or given up; null: not yet
 * @param replayable whether its content is still there
 */
public record InboxEntry(String id, String runtimeId, String source, String method, String authority,
        String target,
        long bytes, @Nullable String providerId, WebhookState state, int attempts,
        @Nullable Instant nextAttempt,
        boolean outOfOrder, String outcome, Instant stored, @Nullable Instant ended, boolean replayable) {}
