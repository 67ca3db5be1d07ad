package dev.culvert.relay.quota;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of all runtimes, and the server's limits for runtimes without their own. Bounded by the number
 * of runtimes in the store, because deleted ones are removed. Safe for use by any thread; look-ups take no
 * lock.
 */
public final class RuntimeQuotas {
    private final RuntimeLimits configured;
    private final MemoryBudget memory;
    private final LongSupplier nanoClock;
    private final Map<String, RuntimeQuota> byId = new ConcurrentHashMap<>();
    private final SourceStandings sourceStandings = new SourceStandings();
    private volatile Server server;

    /** The server's limits: those changed at run time, and those in effect. */
    private record Server(OwnLimits own, RuntimeLimits inForce) {}

    /**
     * @param configured the server's configured limits
     * @param memory the memory budget of all runtimes together
     */
    public RuntimeQuotas(RuntimeLimits configured, MemoryBudget memory) {
        this(configured, memory, System::nanoTime);
    }

    RuntimeQuotas(RuntimeLimits configured, MemoryBudget memory, LongSupplier nanoClock) {
        this.configured = configured;
        this.memory = memory;
        this.nanoClock = nanoClock;
        this.server = new Server(OwnLimits.NONE, configured);
    }

    /**
     * Returns the quota of a runtime.
     *
     * @param own the runtime's own limits, which apply from now on
     */
    public RuntimeQuota of(String runtimeId, OwnLimits own) {
        RuntimeQuota known = byId.get(runtimeId);
        if (known == null) {
            return byId.computeIfAbsent(runtimeId, id -> new RuntimeQuota(this, own, nanoClock));
        }
        known.own(own);
        return known;
    }

    /** Returns the quota of a runtime that had a request, or null. */
    public @Nullable RuntimeQuota known(String runtimeId) {
        return byId.get(runtimeId);
    }

    /** Removes the quota of a deleted runtime. */
    public void forget(String runtimeId) {
        byId.remove(runtimeId);
    }

    /** What is known of the source addresses of all runtimes' callers. */
    SourceStandings sourceStandings() {
        return sourceStandings;
    }

    public MemoryBudget memory() {
        return memory;
    }

    /** Returns the server's limits that were changed at run time. */
    public OwnLimits changed() {
        return server.own;
    }

    /** Returns the server's limits for runtimes without their own. */
    public RuntimeLimits inForce() {
        return server.inForce;
    }

    /** Replaces the limits changed at run time, until the server stops. They override the configured ones. */
    public void change(OwnLimits own) {
        server = new Server(own, configured.with(own));
    }
}
