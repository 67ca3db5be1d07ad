package dev.culvert.inbox.model;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The bytes that webhooks may take up at once, in all and of one runtime. Safe for use by any thread. */
public final class Budget {
    private final long max;
    private final long share;
    private final AtomicLong used = new AtomicLong();
    /** Of those that have some. */
    private final Map<String, Long> ofRuntimes = new ConcurrentHashMap<>();

    /** @param share of one runtime; one taking alone fits in any */
    public Budget(long max, long share) {
        this.max = max;
        this.share = share;
    }

    /** Takes bytes, 1 or more; null: there are not as many left. */
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

    /** What was taken. Safe for use by any thread. */
    public final class Held {
        private final String runtime;
        private final AtomicLong bytes;

        private Held(String runtime, long bytes) {
            this.runtime = runtime;
            this.bytes = new AtomicLong(bytes);
        }

        /** Takes more; false: there is not as much left. Not after {@link #release}. */
        boolean grow(long more) {
            boolean taken = reserve(runtime, more);
            if (taken) {
                bytes.addAndGet(more);
            }
            return taken;
        }

        /** Gives back what is above {@code most}. */
        void shrink(long most) {
            long before = bytes.getAndAccumulate(most, Math::min);
            if (before > most) {
                give(runtime, before - most);
            }
        }

        /** Gives all back; again: does nothing. */
        void release() {
            shrink(0);
        }

        /** Whether half of all, and of the runtime's share, is left for others. */
        boolean leavesHalf() {
            return used.get() <= max / 2 && ofRuntimes.getOrDefault(runtime, 0L) <= share / 2;
        }
    }
}
