package dev.culvert.server.tunnel;

import dev.culvert.relay.quota.MemoryBudget;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds requests until their runtime's tunnel is back, and counts the bytes kept of requests that may be sent
 * again. Both are bounded: a request without room is not held, and not sent again. Callable from any thread.
 */
public final class HeldRequests {
    /** The maximum for one runtime, so others keep their share while a big one is disconnected. */
    static final int MAX_OF_RUNTIME = 256;
    static final int MAX_IN_ALL = 4096;
    /** The maximum for all requests in flight whose response has not begun. */
    static final long MAX_KEPT_BYTES = 64 << 20;

    private final Map<String, Set<Runnable>> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong keptBytes = new AtomicLong();
    private final MemoryBudget memory;
    private final long maxKeptBytes;

    /** @param memory the budget; kept bytes take at most a quarter of it */
    public HeldRequests(MemoryBudget memory) {
        this.memory = memory;
        this.maxKeptBytes = Math.min(MAX_KEPT_BYTES, memory.max() / 4);
    }

    /**
     * Holds a request.
     *
     * @param wake called once, when the tunnel is back or will not come back, on any thread
     * @return false when too many requests are held already
     */
    boolean add(String runtimeId, Runnable wake) {
        if (count.incrementAndGet() > MAX_IN_ALL) {
            count.decrementAndGet();
            return false;
        }
        boolean[] added = {false};
        waiting.compute(runtimeId, (id, before) -> {
            Set<Runnable> those = before == null ? new LinkedHashSet<>() : before;
            added[0] = those.size() < MAX_OF_RUNTIME && those.add(wake);
            return those;
        });
        if (!added[0]) {
            count.decrementAndGet();
        }
        return added[0];
    }

    /** Stops holding the request. Does nothing when it was woken before. */
    void remove(String runtimeId, Runnable wake) {
        waiting.computeIfPresent(runtimeId, (id, those) -> {
            if (those.remove(wake)) {
                count.decrementAndGet();
            }
            return those.isEmpty() ? null : those;
        });
    }

    /** Wakes all requests of a runtime, in order of arrival. */
    public void wake(String runtimeId) {
        Set<Runnable> woken = waiting.remove(runtimeId);
        if (woken != null) {
            List<Runnable> inOrder = new ArrayList<>(woken);
            count.addAndGet(-inOrder.size());
            inOrder.forEach(Runnable::run);
        }
    }

    /** The number of held requests: {@code culvert_held_requests}. */
    public int count() {
        return count.get();
    }

    /** Reserves room for {@code bytes} of a request. Release it with {@link #forget}. */
    boolean keep(int bytes) {
        if (memory.isSpent()) {
            return false;
        }
        if (keptBytes.addAndGet(bytes) > maxKeptBytes) {
            keptBytes.addAndGet(-bytes);
            return false;
        }
        memory.take(bytes);
        return true;
    }

    void forget(int bytes) {
        keptBytes.addAndGet(-bytes);
        memory.give(bytes);
    }

    /** The number of bytes kept. */
    long keptBytes() {
        return keptBytes.get();
    }
}
