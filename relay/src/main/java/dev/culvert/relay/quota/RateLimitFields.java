package dev.culvert.relay.quota;

import dev.culvert.http.problem.ProblemDocument.Field;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The fields that tell a caller how many requests it may still send (draft-ietf-httpapi-ratelimit-headers-10, structured
 * fields of RFC 9651). Both are lists: an upstream's own members stay beside these.
 */
final class RateLimitFields {
    private static final String POLICY = "ratelimit-policy";
    private static final String LIMIT = "ratelimit";
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private RateLimitFields() {}

    /**
     * @param left requests that may come at once
     * @param nanos until there are more: until all of them may come, or after a refusal the next one
     */
    static List<Field> of(RuntimeLimits limits, long left, long nanos) {
        long window = Math.ceilDiv((long) limits.requestBurst(), (long) limits.requestsPerSecond());
        return List.of(new Field(POLICY, "\"requests\";q=" + limits.requestBurst() + ";w=" + window),
                new Field(LIMIT, "\"requests\";r=" + left + ";t=" + Math.ceilDiv(nanos, SECOND)));
    }
}
