package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/** The result of storing an {@link IncomingWebhook}. */
public sealed interface Receipt {
    /** The webhook is on disk. */
    record Stored(QueuedWebhook pending) implements Receipt {}

    /**
     * The webhook is a duplicate of a stored one.
     *
     * @param seq the sequence number of the stored one
     * @param id the id of the stored one
     * @param runtime the runtime of both
     * @param source the event source of the stored one
     * @param pending whether the stored one is still to be delivered
     * @param answer the response of its event source; null: unknown
     */
    record Duplicate(long seq, String id, String runtime, String source, boolean pending,
            @Nullable StoredAnswer answer)
            implements
                Receipt {}
}
