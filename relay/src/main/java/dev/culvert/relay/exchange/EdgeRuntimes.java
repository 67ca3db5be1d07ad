package dev.culvert.relay.exchange;

import dev.culvert.relay.Admission;
import dev.culvert.relay.Relay;
import dev.culvert.relay.quota.RuntimeQuota;
import org.jspecify.annotations.Nullable;

/** Finds who answers a host. Called for each request on event loops: no lock, no IO. */
@FunctionalInterface
public interface EdgeRuntimes {
    /** The runtime of an authority as a caller sent it, or null. */
    @Nullable
    RuntimeEndpoint byHost(String authority);

    /**
     * A runtime as the edge sees it.
     *
     * @param name {@code account/name}, for metrics and logs
     * @param relay its tunnel
     * @param quota what it may use, and uses
     * @param admission who may call; null: everybody
     */
    record RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota, @Nullable Admission admission) {
        /** One that everybody may call. */
        public RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota) {
            this(name, relay, quota, null);
        }
    }
}
