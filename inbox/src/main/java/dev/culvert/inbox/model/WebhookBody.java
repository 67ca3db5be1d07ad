package dev.culvert.inbox.model;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a webhook carries. Immutable, but for the memory that it gives back once.
 */
public final class WebhookBody {
    /** Encoded by {@link StoredFields}. */
    public final byte[] fields;
    /** Null: it stands in {@link #spool}. */
    public final byte @Nullable [] body;
    public final @Nullable Path spool;
    public final long size;
    private final Budget.@Nullable Held held;

    /** @param held what {@link #release} gives back; null: nothing */
    public WebhookBody(byte[] fields, byte @Nullable [] body, @Nullable Path spool, long size,
            Budget.@Nullable Held held) {
        this.fields = fields;
        this.body = body;
        this.spool = spool;
        this.size = size;
        this.held = held;
    }

    /** Any thread, any number of times. */
    public void release() {
        if (held != null) {
            held.release();
        }
    }

    /** Whether it may stay in memory although it is not sent at once. */
    public boolean mayWait() {
        return held == null || held.leavesHalf();
    }
}
