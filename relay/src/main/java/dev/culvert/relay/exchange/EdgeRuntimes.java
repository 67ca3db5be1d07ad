package dev.culvert.relay.exchange;

import dev.culvert.relay.Admission;
import dev.culvert.relay.AdmittedRelay;
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
     * @param relay its tunnel, behind the admission of its callers
     * @param quota its limits and its usage
     * @param restricted whether its callers need an admission. Raw connections are refused then, because the
     *     rules judge properties of requests
     */
    record RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota, boolean restricted) {
        /** Creates a runtime that admits all callers. */
        public RuntimeEndpoint(String name, Relay relay, RuntimeQuota quota) {
            this(name, relay, quota, false);
        }

        /** Creates a runtime whose callers need an admission; null: all are admitted. */
        public static RuntimeEndpoint of(String name, Relay tunnel, RuntimeQuota quota,
                @Nullable Admission admission) {
            return admission == null
                    ? new RuntimeEndpoint(name, tunnel, quota)
                    : new RuntimeEndpoint(name, new AdmittedRelay(admission, tunnel), quota, true);
        }
    }
}
