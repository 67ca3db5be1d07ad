package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.relay.ResponseSink;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a request on its way to an upstream.
 *
 * @param target the request target to send
 * @param hostHeader the Host to send; null: the caller's
 * @param away answers in place of an upstream that is away; null: the problem is the answer
 */
record Outgoing(UpstreamAddress address, String target, @Nullable String hostHeader,
        @Nullable AwayAnswer away) {

    /** Speaks for an upstream that gave no response. */
    @FunctionalInterface
    interface AwayAnswer {
        /** Gives a whole response and returns true, or leaves the problem to the asker and returns false. */
        boolean answer(Problem problem, ResponseSink response);
    }
}
