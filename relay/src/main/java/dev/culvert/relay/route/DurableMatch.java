package dev.culvert.relay.route;

import dev.culvert.http.problem.Problem;
import org.jspecify.annotations.Nullable;

/** What {@link DurableRoutes} says of a request that it does not leave alone. */
public sealed interface DurableMatch {
    /**
     * It is stored before it is delivered.
     *
     * @param source who gets it, as {@code argo/push}: order, quotas and pauses are counted by it; at most 200 characters
     * @param path the route's path, as it was configured
     * @param inOrder whether webhooks of the same source are delivered in their order
     * @param maxBodyBytes more is refused with 413
     * @param verify how its signature is verified; null: not at all
     * @param named whether the configuration names the source itself; else callers may invent such names
     */
    record DurableRoute(String source, String path, boolean inOrder, long maxBodyBytes,
            @Nullable Verification verify, boolean named) implements DurableMatch {}

    /** The router would refuse it: it need not be asked. */
    record Refused(Problem problem) implements DurableMatch {}
}
