package dev.culvert.relay.exchange;

import dev.culvert.relay.Admission;
import dev.culvert.relay.Relay;
import dev.culvert.relay.quota.RuntimeQuota;
import org.jspecify.annotations.Nullable;

/**
 * Finds the runtime of a host. Called for each request on event loops: implementations use no lock and no IO.
 */
@FunctionalInterface
public interface EdgeRuntimes {
    /** Returns the runtime of an authority as the caller sent it, or null. */
    @Nullable
    RuntimeEndpoint byHost(String authority);

    /**
     * The properties of a runtime that the edge uses.
     *
     * @param name {@code account/name}, for metrics and logs
     * @param relay its tunnel
     * @param quota its limits and its usage
     * @param admission decides which callers are admitted; null: all
     */
    record RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota, @Nullable Admission admission) {
        /** Creates a runtime that admits all callers. */
        public RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota) {
            this(name, relay, quota, null);
        }
    }
}
