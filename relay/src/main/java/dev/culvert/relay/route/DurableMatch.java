package dev.culvert.relay.route;

import dev.culvert.http.problem.Problem;
import org.jspecify.annotations.Nullable;

/** The decision of {@link DurableRoutes} about a request that it stores or refuses. */
public sealed interface DurableMatch {
    /**
     * The request is stored before it is delivered.
     *
     * @param source the event source that receives it, as {@code argo/push}; order, quotas and pauses are
     *     kept for each source; at most 200 characters
     * @param path the route's path, as configured
     * @param inOrder whether webhooks of the same source are delivered in order
     * @param maxBodyBytes the maximum body length; longer bodies are refused with 413
     * @param verify how the signature is verified; null: it is not verified
     * @param named whether the configuration names this source; if not, callers may invent such names
     */
    record DurableRoute(String source, String path, boolean inOrder, long maxBodyBytes,
            @Nullable Verification verify, boolean named) implements DurableMatch {}

    /** The router would refuse the request, so it need not be sent there. */
    record Refused(Problem problem) implements DurableMatch {}
}
