package dev.culvert.relay.upstream;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.ResponseSink;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a request on its way to an upstream.
 *
 * @param target the request target to send
 * @param hostHeader the Host to send; null: the caller's
 * @param away answers in place of an upstream that is away; null: the problem is the answer
 * @param headTimeout from the last request byte to the response's head; null: the usual one
 */
public record UpstreamCall(UpstreamAddress address, String target, @Nullable String hostHeader,
        @Nullable AwayAnswer away, @Nullable Duration headTimeout) {

    /** With the usual time-out. */
    public UpstreamCall(UpstreamAddress address, String target, @Nullable String hostHeader,
            @Nullable AwayAnswer away) {
        this(address, target, hostHeader, away, null);
    }

    /** The same, of whose failure the asker is told. */
    public UpstreamCall withoutAway() {
        return away == null ? this : new UpstreamCall(address, target, hostHeader, null, headTimeout);
    }

    /** For how long the response's head may be waited for. */
    public Duration headTimeout(UpstreamLimits limits) {
        return headTimeout == null ? limits.headTimeout() : headTimeout;
    }

    /** Speaks for an upstream that gave no response. */
    @FunctionalInterface
    public interface AwayAnswer {
        /** Gives a whole response and returns true, or leaves the problem to the asker and returns false. */
        boolean answer(Problem problem, ResponseSink response);
    }
}
