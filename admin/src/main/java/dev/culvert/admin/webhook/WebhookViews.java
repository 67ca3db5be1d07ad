package dev.culvert.admin.webhook;

import dev.culvert.inbox.model.InboxEntry;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The responses about webhooks. Fields and bodies of webhooks are not shown, because they may contain
 * secrets.
 */
public final class WebhookViews {
    private WebhookViews() {}

    /** A webhook; account and name are null where runtimes have none, or its runtime was just deleted. */
    public record WebhookView(String id, @Nullable String account, @Nullable String name, String source,
            String method, String host, String path, long bytes, @Nullable String providerId, String state,
            int attempts, @Nullable String nextAttemptAt, boolean outOfOrder, String outcome, String storedAt,
            @Nullable String endedAt, boolean replayable) {
        static WebhookView of(InboxEntry entry, WebhookRuntimes.@Nullable Name runtime) {
            return new WebhookView(entry.id(), runtime == null ? null : runtime.account(),
                    runtime == null ? null : runtime.name(), entry.source(), entry.method(),
                    entry.authority(), entry.target(), entry.bytes(), entry.providerId(),
                    entry.state().word(), entry.attempts(), text(entry.nextAttempt()), entry.outOfOrder(),
                    entry.outcome(), entry.stored().toString(), text(entry.ended()), entry.replayable());
        }

        private static @Nullable String text(@Nullable Instant moment) {
            return moment == null ? null : moment.toString();
        }
    }

    /** The number of deleted webhooks. */
    public record PurgedView(long purged) {}
}
