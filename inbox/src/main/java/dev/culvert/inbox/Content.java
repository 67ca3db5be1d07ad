package dev.culvert.inbox;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
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
    private final IngestMemory memory;
    private final AtomicLong held;

    /** @param held bytes of {@code memory} that {@link #release} gives back */
    Content(byte[] fields, byte @Nullable [] body, @Nullable Path spool, long size, IngestMemory memory,
            long held) {
        this.fields = fields;
        this.body = body;
        this.spool = spool;
        this.size = size;
        this.memory = memory;
        this.held = new AtomicLong(held);
    }

    /** Any thread, any number of times. */
    void release() {
        memory.give(held.getAndSet(0));
    }
}
