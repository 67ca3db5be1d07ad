package dev.culvert.server.admin;

import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.tunnel.ServerEvent;
import org.jspecify.annotations.Nullable;

/** The events of webhooks, without their fields and bodies, which may contain secrets. */
final class WebhookJson {
    private WebhookJson() {}

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
