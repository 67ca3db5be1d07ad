package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/**
 * What a list is asked for. What is null is not asked for.
 *
 * @param state only those in this state
 * @param runtimeId only those of this runtime
 * @param source only those of this event source; needs a runtime
 * @param after the cursor of the page before; one that is none begins at the newest
 * @param limit entries of a page, 1 to 200
 */
public record InboxQuery(@Nullable WebhookState state, @Nullable String runtimeId, @Nullable String source,
        @Nullable String after, int limit) {
    /** The most entries of a page. */
    public static final int MAX_LIMIT = 200;

    public InboxQuery {
        limit = Math.clamp(limit, 1, MAX_LIMIT);
        if (source != null && runtimeId == null) {
            throw new IllegalArgumentException(
                    "a source without a runtime (expected: both, or the runtime alone)");
        }
    }

    /** The first page of all, or of one state. */
    public static InboxQuery of(@Nullable WebhookState state, int limit) {
        return new InboxQuery(state, null, null, null, limit);
    }
}
