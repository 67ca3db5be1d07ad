package dev.culvert.relay.quota;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of all runtimes, and the server's limits that hold for those without their own. Bounded by the runtimes of the
 * store, as one that is deleted is forgotten. Safe for use by any thread; look-ups take no lock.
 */
public final class RuntimeQuotas {
    private final RuntimeLimits configured;
    private final MemoryBudget memory;
    private final LongSupplier nanoClock;
    private final Map<String, RuntimeQuota> byId = new ConcurrentHashMap<>();
    private volatile Server server;

    /** The server's limits: changed at run time, and in force. */
    private record Server(OwnLimits own, RuntimeLimits inForce) {}

    /**
     * @param configured the server's limits as it starts
     * @param memory what all runtimes together may hold
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
     * The quota of a runtime.
     *
     * @param own the runtime's own limits, which hold from now on
     */
    public RuntimeQuota of(String runtimeId, OwnLimits own) {
        RuntimeQuota known = byId.get(runtimeId);
        if (known == null) {
            return byId.computeIfAbsent(runtimeId, id -> new RuntimeQuota(this, own, nanoClock));
        }
        known.own(own);
        return known;
    }

    /** The quota of a runtime that had a request, or null. */
    public @Nullable RuntimeQuota known(String runtimeId) {
        return byId.get(runtimeId);
    }

    /** A runtime was deleted. */
    public void forget(String runtimeId) {
        byId.remove(runtimeId);
    }

    public MemoryBudget memory() {
        return memory;
    }

    /** The server's limits that were changed at run time. */
    public OwnLimits changed() {
        return server.own;
    }

    /** The server's limits, for runtimes without their own. */
    public RuntimeLimits inForce() {
        return server.inForce;
    }

    /** Changes the server's limits until it ends: in place of those that it has, over the configured ones. */
    public void change(OwnLimits own) {
        server = new Server(own, configured.with(own));
    }
}
