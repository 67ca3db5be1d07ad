package dev.culvert.inbox;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a webhook carries. Immutable, but for the memory that it gives back once.
 */
final class Content {
    /** Encoded by {@link StoredFields}. */
    final byte[] fields;
    /** Null: it stands in {@link #spool}. */
    final byte @Nullable [] body;
    final @Nullable Path spool;
    final long size;
    private final Budget.@Nullable Held held;

    /** @param held what {@link #release} gives back; null: nothing */
    Content(byte[] fields, byte @Nullable [] body, @Nullable Path spool, long size,
            Budget.@Nullable Held held) {
        this.fields = fields;
        this.body = body;
        this.spool = spool;
        this.size = size;
        this.held = held;
    }

    /** Any thread, any number of times. */
    void release() {
        if (held != null) {
            held.release();
        }
    }

    /** Whether it may stay in memory although it is not sent at once. */
    boolean mayWait() {
        return held == null || held.leavesHalf();
    }
}
