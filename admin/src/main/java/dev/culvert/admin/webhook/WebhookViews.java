package dev.culvert.admin.webhook;

import dev.culvert.inbox.model.BulkResult;
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
            int attempts, int refused, @Nullable String nextAttemptAt, boolean outOfOrder, String outcome,
            String storedAt,
            @Nullable String endedAt, boolean replayable) {
        static WebhookView of(InboxEntry entry, WebhookRuntimes.@Nullable Name runtime) {
            return new WebhookView(entry.id(), runtime == null ? null : runtime.account(),
                    runtime == null ? null : runtime.name(), entry.source(), entry.method(),
                    entry.authority(), entry.target(), entry.bytes(), entry.providerId(),
                    entry.state().word(), entry.attempts(), entry.refused(), text(entry.nextAttempt()),
                    entry.outOfOrder(),
                    entry.outcome(), entry.stored().toString(), text(entry.ended()), entry.replayable());
        }

        private static @Nullable String text(@Nullable Instant moment) {
            return moment == null ? null : moment.toString();
        }
    }

    /** The number of deleted webhooks. */
    public record PurgedView(long purged) {}

    /** The result of a change of many webhooks that was only tried. */
    public record MatchedView(long matched) {}

    /** The result of a replay of many webhooks; {@code next} is null when all are done. */
    public record ReplayedView(long replayed, long skipped, @Nullable String next) {
        static ReplayedView of(BulkResult result) {
            return new ReplayedView(result.changed(), result.skipped(), result.next());
        }
    }

    /** The result of a deletion of many webhooks; {@code next} is null when all are done. */
    public record PurgedPageView(long purged, long skipped, @Nullable String next) {
        static PurgedPageView of(BulkResult result) {
            return new PurgedPageView(result.changed(), result.skipped(), result.next());
        }
    }
}
