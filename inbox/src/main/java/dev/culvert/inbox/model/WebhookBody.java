package dev.culvert.inbox.model;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The content of a webhook. Immutable, except that its memory is released once. */
public final class WebhookBody {
    /** The header fields, encoded by {@link StoredFields}. */
    public final byte[] fields;
    /** The body; null if {@link #spool} holds it. */
    public final byte @Nullable [] body;
    public final @Nullable Path spool;
    public final long size;
    private final Budget.@Nullable Held held;

    /** @param held the claim that {@link #release} returns; null: none */
    public WebhookBody(byte[] fields, byte @Nullable [] body, @Nullable Path spool, long size,
            Budget.@Nullable Held held) {
        this.fields = fields;
        this.body = body;
        this.spool = spool;
        this.size = size;
        this.held = held;
    }

    /** Releases the memory claim. Any thread, any number of times. */
    public void release() {
        if (held != null) {
            held.release();
        }
    }

    /** Whether it may stay in memory if it is not sent at once. */
    public boolean mayWait() {
        return held == null || held.leavesHalf();
    }
}
