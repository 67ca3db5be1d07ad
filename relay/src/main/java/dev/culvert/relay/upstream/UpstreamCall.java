package dev.culvert.relay.upstream;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.ResponseSink;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Describes how a request is sent to its upstream.
 *
 * @param target the request target to send
 * @param hostHeader the Host to send; null: the caller's Host
 * @param away responds in place of an upstream that is away; null: the asker receives the problem
 * @param headTimeout the time from the last request byte to the response head; null: the default
 * @param figures count the request
 */
public record UpstreamCall(UpstreamAddress address, String target, @Nullable String hostHeader,
        @Nullable AwayAnswer away, @Nullable Duration headTimeout, RouteFigures figures) {

    /** Creates a call with the caller's Host and the default time-out. */
    public UpstreamCall(UpstreamAddress address, String target, RouteFigures figures) {
        this(address, target, null, null, null, figures);
    }

    /** Returns the same call, but the asker receives the problem if the upstream is away. */
    public UpstreamCall withoutAway() {
        return away == null
                ? this
                : new UpstreamCall(address, target, hostHeader, null, headTimeout, figures);
    }

    /** Returns the maximum wait for the response head. */
    public Duration headTimeout(UpstreamLimits limits) {
        return headTimeout == null ? limits.headTimeout() : headTimeout;
    }

    /** Responds in place of an upstream that gave no response. */
    @FunctionalInterface
    public interface AwayAnswer {
        /**
         * Sends a complete response and returns true, or returns false and leaves the problem to the asker.
         */
        boolean answer(Problem problem, ResponseSink response);
    }
}
