package dev.culvert.http.observe;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts connections that ended because direct memory could not be allocated for them: {@code
 * culvert_memory_refused_total}. Counts for the whole process, because direct memory belongs to the process.
 * Safe for use by any thread.
 */
public final class MemoryRefusals {
    /** Connections of callers. */
    public static final MemoryRefusals CALLER = new MemoryRefusals();
    /** Connections to upstreams. */
    public static final MemoryRefusals UPSTREAM = new MemoryRefusals();

    private final LongAdder count = new LongAdder();

    private MemoryRefusals() {}

    /**
     * Counts a failure that was caused by exhausted direct memory, and returns whether it was. An exhausted
     * heap ends the process instead.
     */
    public boolean counts(Throwable failure) {
        for (@Nullable
        Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError) {
                count.increment();
                return true;
            }
        }
        return false;
    }

    /** The number of such connections since the start. */
    public long total() {
        return count.sum();
    }
}
