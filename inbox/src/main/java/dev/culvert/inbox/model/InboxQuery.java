package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/**
 * The query of a list. A null component does not filter.
 *
 * @param state the state of the entries
 * @param runtimeId the runtime of the entries
 * @param source the event source of the entries; needs a runtime
 * @param after the cursor of the previous page; an invalid one starts with the newest entry
 * @param limit the maximum number of entries of a page, 1 to 200
 */
public record InboxQuery(@Nullable WebhookState state, @Nullable String runtimeId, @Nullable String source,
        @Nullable String after, int limit) {
    /** The maximum of {@link #limit}. */
    public static final int MAX_LIMIT = 200;

    public InboxQuery {
        limit = Math.clamp(limit, 1, MAX_LIMIT);
        if (source != null && runtimeId == null) {
            throw new IllegalArgumentException(
                    "a source without a runtime (expected: both, or the runtime alone)");
        }
    }

    /** Returns the query of the first page of all entries, or of one state. */
    public static InboxQuery of(@Nullable WebhookState state, int limit) {
        return new InboxQuery(state, null, null, null, limit);
    }
}
