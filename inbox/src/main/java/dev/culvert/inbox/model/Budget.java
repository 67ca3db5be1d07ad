package dev.culvert.inbox.model;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes that webhooks occupy at once, in total and for each runtime. Safe for use by any thread.
 */
public final class Budget {
    private final long max;
    private final long share;
    private final AtomicLong used = new AtomicLong();
    /** The bytes of each runtime that has any. */
    private final Map<String, Long> ofRuntimes = new ConcurrentHashMap<>();

    /** @param share the maximum for one runtime; a single claim may exceed it */
    public Budget(long max, long share) {
        this.max = max;
        this.share = share;
    }

    /** Claims bytes, 1 or more. Returns null if the budget does not have them. */
    public @Nullable Held take(String runtime, long bytes) {
        return reserve(runtime, bytes) ? new Held(runtime, bytes) : null;
    }

    private boolean reserve(String runtime, long bytes) {
        if (used.addAndGet(bytes) > max) {
            used.addAndGet(-bytes);
            return false;
        }
        long all = ofRuntimes.merge(runtime, bytes, Long::sum);
        if (all > share && all > bytes) {
            give(runtime, bytes);
            return false;
        }
        return true;
    }

    private void give(String runtime, long bytes) {
        used.addAndGet(-bytes);
        ofRuntimes.computeIfPresent(runtime, (key, all) -> all > bytes ? all - bytes : null);
    }

    public long used() {
        return used.get();
    }

    /** A claim. Safe for use by any thread. */
    public final class Held {
        private final String runtime;
        private final AtomicLong bytes;

        private Held(String runtime, long bytes) {
            this.runtime = runtime;
            this.bytes = new AtomicLong(bytes);
        }

        /**
         * Extends the claim. Returns false if the budget does not have the bytes. Not after {@link #release}.
         */
        boolean grow(long more) {
            boolean taken = reserve(runtime, more);
            if (taken) {
                bytes.addAndGet(more);
            }
            return taken;
        }

        /** Returns the bytes above {@code most} to the budget. */
        void shrink(long most) {
            long before = bytes.getAndAccumulate(most, Math::min);
            if (before > most) {
                give(runtime, before - most);
            }
        }

        /** Returns all bytes to the budget. Further calls have no effect. */
        void release() {
            shrink(0);
        }

        /** Whether at least half of the budget, and half of the runtime's share, is free. */
        boolean leavesHalf() {
            return used.get() <= max / 2 && ofRuntimes.getOrDefault(runtime, 0L) <= share / 2;
        }
    }
}
