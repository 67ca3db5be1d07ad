package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a runtime, or of all, in a span of time.
 *
 * @param runtime {@code account/name}; empty for hosts that no runtime has, and for the sum of all
 * @param requests the number of requests that ended
 * @param perSecond their rate
 * @param clientErrors the number of answers from 400 to 499
 * @param serverErrors the number of answers from 500 on, of the gateway and of services
 * @param problems the number of the gateway's problems, with any status
 * @param failures the answers from 500 on, and those that the gateway cut off
 * @param mostly the most frequent reason of failures; null: nothing failed
 * @param p50 the time in seconds that half of them did not exceed; not a number: there was none
 * @param p99 the same for 99 of 100
 */
public record TrafficSummary(String runtime, long requests, double perSecond, long clientErrors,
        long serverErrors, long problems, long failures, @Nullable Reason mostly, double p50, double p99) {
    /**
     * Why requests failed.
     *
     * @param cause the gateway's problem; null: the service itself answered with 500 or more
     * @param hop the hop at which it was noticed
     * @param count the number of requests
     */
    public record Reason(Problem.@Nullable Cause cause, Problem.Hop hop, long count) {}

    static TrafficSummary of(String runtime, TrafficSlot slot, double seconds) {
        long requests = slot.requests();
        return new TrafficSummary(runtime, requests, requests / seconds, slot.clientErrors(),
                slot.serverErrors(), slot.problems(), slot.failures(), slot.mostly(), slot.quantile(0.5),
                slot.quantile(0.99));
    }

    /** A number of them as a share of all, 0 to 1. */
    public double share(long count) {
        return requests == 0 ? 0 : (double) count / requests;
    }
}
