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
 * Requests that wait until their runtime's tunnel is back, and the bytes kept of requests that may have to be sent again.
 * Both are bounded: what finds no room is not held, and not sent again. Callable from any thread.
 */
public final class HeldRequests {
    /** Of one runtime: others keep their share while a big one is away. */
    static final int MAX_OF_RUNTIME = 256;
    static final int MAX_IN_ALL = 4096;
    /** Of all requests in flight whose response has not begun. */
    static final long MAX_KEPT_BYTES = 64 << 20;

    private final Map<String, Set<Runnable>> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong keptBytes = new AtomicLong();
    private final MemoryBudget memory;
    private final long maxKeptBytes;

    /** @param memory of which kept bytes take a quarter at most */
    public HeldRequests(MemoryBudget memory) {
        this.memory = memory;
        this.maxKeptBytes = Math.min(MAX_KEPT_BYTES, memory.max() / 4);
    }

    /**
     * Lets a request wait.
     *
     * @param wake called once, when the tunnel is back or will not come back, on any thread
     * @return false when too many wait already
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

    /** The request waits no longer. Nothing happens when it was woken before. */
    void remove(String runtimeId, Runnable wake) {
        waiting.computeIfPresent(runtimeId, (id, those) -> {
            if (those.remove(wake)) {
                count.decrementAndGet();
            }
            return those.isEmpty() ? null : those;
        });
    }

    /** Wakes all requests of a runtime, in the order in which they came. */
    public void wake(String runtimeId) {
        Set<Runnable> woken = waiting.remove(runtimeId);
        if (woken != null) {
            List<Runnable> inOrder = new ArrayList<>(woken);
            count.addAndGet(-inOrder.size());
            inOrder.forEach(Runnable::run);
        }
    }

    /** How many wait now: {@code culvert_held_requests}. */
    public int count() {
        return count.get();
    }

    /** Takes room for {@code bytes} of a request; give it back with {@link #forget}. */
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

    /** Bytes kept now. */
    long keptBytes() {
        return keptBytes.get();
    }
}
