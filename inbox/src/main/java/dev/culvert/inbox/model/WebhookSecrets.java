package dev.culvert.inbox.model;

import dev.culvert.relay.route.DurableMatch.DurableRoute;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the secrets are that webhooks are signed with. */
@FunctionalInterface
public interface WebhookSecrets {
    /** Knows none: signatures are left to the event source. */
    WebhookSecrets NONE = (runtimeId, route) -> null;

    /** Knows those that clusters' owners have announced. */
    WebhookSecrets SHARED = (runtimeId, route) -> route.verify() == null || route.verify().shared() == null
            ? null
            : route.verify().shared().list();

    /**
     * The secrets of a route that says how its webhooks are verified. Called on event loops: must not block.
     *
     * @return each is tried, at most 8, so that one can follow another; empty: all webhooks are refused; null: signatures are
     *     not verified here
     */
    @Nullable
    List<byte[]> of(String runtimeId, DurableRoute route);
}
