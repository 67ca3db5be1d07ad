package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/** What became of a {@link IncomingWebhook}. */
public sealed interface Receipt {
    /** It is on the disk. */
    record Stored(QueuedWebhook pending) implements Receipt {}

    /**
     * It is there already.
     *
     * @param seq the first one's
     * @param id the first one's
     * @param runtime the runtime of both
     * @param source the source of the first
     * @param pending whether that is still to be delivered
     * @param answer what its event source answered; null: unknown
     */
    record Duplicate(long seq, String id, String runtime, String source, boolean pending,
            @Nullable StoredAnswer answer)
            implements
                Receipt {}
}
