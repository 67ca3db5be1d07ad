package dev.culvert.http.observe;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts connections that ended because direct memory could not be had for them: {@code culvert_memory_refused_total}. Of the
 * process, as that memory is. Safe for use by any thread.
 */
public final class MemoryRefusals {
    /** Connections of callers. */
    public static final MemoryRefusals CALLER = new MemoryRefusals();
    /** Connections to upstreams. */
    public static final MemoryRefusals UPSTREAM = new MemoryRefusals();

    private final LongAdder count = new LongAdder();

    private MemoryRefusals() {}

    /** Whether a connection failed for want of direct memory; then counts it. The heap's end ends the process. */
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

    /** Connections that ended so, since the start. */
    public long total() {
        return count.sum();
    }
}
