package dev.culvert.relay.quota;

import dev.culvert.http.problem.ProblemDocument.Field;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The fields that report the remaining requests to a caller (draft-ietf-httpapi-ratelimit-headers-10,
 * structured fields of RFC 9651). Both are lists, so an upstream's members are kept beside them.
 */
final class RateLimitFields {
    private static final String POLICY = "ratelimit-policy";
    private static final String LIMIT = "ratelimit";
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private RateLimitFields() {}

    /**
     * @param left the number of requests allowed at once
     * @param nanos the nanoseconds until the full burst is available again, or after a refusal until the next
     *     request is
     */
    static List<Field> of(RuntimeLimits limits, long left, long nanos) {
        long window = Math.ceilDiv((long) limits.requestBurst(), (long) limits.requestsPerSecond());
        return List.of(new Field(POLICY, "\"requests\";q=" + limits.requestBurst() + ";w=" + window),
                new Field(LIMIT, "\"requests\";r=" + left + ";t=" + Math.ceilDiv(nanos, SECOND)));
    }
}
