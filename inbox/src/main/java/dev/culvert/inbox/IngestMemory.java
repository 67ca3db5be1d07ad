package dev.culvert.inbox;

import java.util.concurrent.atomic.AtomicLong;

/** The bytes that webhooks may take up in memory. Safe for use by any thread. */
final class IngestMemory {
    private final long max;
    private final AtomicLong used = new AtomicLong();

    IngestMemory(long max) {
        this.max = max;
    }

    /** Takes bytes, unless there are not as many left. */
    boolean take(long bytes) {
        long before = used.get();
        while (before + bytes <= max) {
            long seen = used.compareAndExchange(before, before + bytes);
            if (seen == before) {
                return true;
            }
            before = seen;
        }
        return false;
    }

    void give(long bytes) {
        used.addAndGet(-bytes);
    }

    long used() {
        return used.get();
    }
}
