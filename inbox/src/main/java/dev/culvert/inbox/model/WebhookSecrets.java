package dev.culvert.inbox.model;

import dev.culvert.relay.route.DurableMatch.DurableRoute;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Provides the secrets with which webhooks are signed. */
@FunctionalInterface
public interface WebhookSecrets {
    /** Provides no secrets: event sources verify the signatures. */
    WebhookSecrets NONE = (runtimeId, route) -> null;

    /** Provides the secrets that the clusters' owners announced. */
    WebhookSecrets SHARED = (runtimeId, route) -> route.verify() == null || route.verify().shared() == null
            ? null
            : route.verify().shared().list();

    /**
     * Returns the secrets of a route with a configured verification. Called on event loops, so it must not
     * block.
     *
     * @return at most 8 secrets, which are all tried, so that secrets can be rotated; empty: all webhooks are
     *     refused; null: the gateway does not verify signatures
     */
    @Nullable
    List<byte[]> of(String runtimeId, DurableRoute route);
}
