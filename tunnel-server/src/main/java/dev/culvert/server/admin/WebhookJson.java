package dev.culvert.server.admin;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.tunnel.ServerEvent;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The responses of the admin API about webhooks. Fields and bodies of webhooks are not shown, because they
 * may contain secrets.
 */
final class WebhookJson {
    private WebhookJson() {}

    /** A webhook; account and name are null when its runtime was just deleted. */
    record WebhookView(String id, @Nullable String account, @Nullable String name, String source,
            String method, String host, String path, long bytes, @Nullable String providerId, String state,
            int attempts, @Nullable String nextAttemptAt, boolean outOfOrder, String outcome, String storedAt,
            @Nullable String endedAt, boolean replayable) {
        static WebhookView of(InboxEntry entry, @Nullable RegisteredRuntime runtime) {
            return new WebhookView(entry.id(), runtime == null ? null : runtime.name().account(),
                    runtime == null ? null : runtime.name().name(), entry.source(), entry.method(),
                    entry.authority(), entry.target(), entry.bytes(), entry.providerId(),
                    entry.state().word(), entry.attempts(), text(entry.nextAttempt()), entry.outOfOrder(),
                    entry.outcome(), entry.stored().toString(), text(entry.ended()), entry.replayable());
        }

        private static @Nullable String text(@Nullable Instant moment) {
            return moment == null ? null : moment.toString();
        }
    }

    /** The number of deleted webhooks. */
    record PurgedView(long purged) {}

    /** An event of a webhook. */
    record EventView(String at, @Nullable String account, @Nullable String name, String webhook,
            String source, int attempts, String outcome) {
        static EventView of(ServerEvent.OfWebhook event) {
            RuntimeName runtime = event.runtime();
            return new EventView(event.at().toString(), runtime == null ? null : runtime.account(),
                    runtime == null ? null : runtime.name(), event.event().id(), event.event().source(),
                    event.event().attempts(), event.event().outcome());
        }
    }
}
