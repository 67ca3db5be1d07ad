package dev.culvert.platform.host.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message in the outbox, as operators see it.
 *
 * @param created when it was stored, as RFC 3339
 * @param nextAttempt when it is tried next
 * @param lastError why the last attempt failed; null: none has failed
 */
public record WaitingMessage(long id, String module, String account, String target, String created,
        int attempts, String nextAttempt, @Nullable String lastError) {
    static WaitingMessage of(OutboxTable.Waiting row) {
        return new WaitingMessage(row.id(), row.module(), row.account(), row.target(),
                Instant.ofEpochMilli(row.created()).toString(), row.attempts(),
                Instant.ofEpochMilli(row.nextAt()).toString(), row.lastError());
    }
}
