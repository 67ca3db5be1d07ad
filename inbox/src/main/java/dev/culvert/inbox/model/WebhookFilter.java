package dev.culvert.inbox.model;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The webhooks of a change of many. A null component does not filter.
 *
 * @param ids only these; empty: all
 * @param runtimeId the runtime of the webhooks
 * @param source the event source of the webhooks; needs a runtime
 * @param state the state of the webhooks
 * @param since the earliest time at which they died or were delivered; of pending ones, were stored
 * @param until the time before which they did
 */
public record WebhookFilter(List<String> ids, @Nullable String runtimeId, @Nullable String source,
        @Nullable WebhookState state, @Nullable Instant since, @Nullable Instant until) {
    /** The maximum number of {@link #ids}. */
    public static final int MAX_IDS = 1000;

    public WebhookFilter {
        ids = List.copyOf(ids);
        if (ids.size() > MAX_IDS) {
            throw new IllegalArgumentException(ids.size() + " ids (expected: at most " + MAX_IDS + ")");
        }
        if (source != null && runtimeId == null) {
            throw new IllegalArgumentException(
                    "a source without a runtime (expected: both, or the runtime alone)");
        }
    }

    /** The webhooks of an event source. */
    public static WebhookFilter of(String runtimeId, String source, @Nullable WebhookState state) {
        return new WebhookFilter(List.of(), runtimeId, source, state, null, null);
    }

    /** This filter with another state. */
    public WebhookFilter in(WebhookState other) {
        return new WebhookFilter(ids, runtimeId, source, other, since, until);
    }
}
