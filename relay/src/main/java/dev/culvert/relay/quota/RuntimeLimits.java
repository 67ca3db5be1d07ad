package dev.culvert.relay.quota;

/**
 * The limits of one runtime at the edge that are in effect.
 *
 * @param maxStreams the maximum concurrent streams; above: 503
 * @param requestsPerSecond the maximum requests per second; above: 429; 0: no limit
 * @param requestBurst the maximum requests at once after a pause; never 0 if requests per second are limited
 * @param maxBodyBytes the maximum bytes of one request's body; above: 413; 0: no limit
 * @param bytesPerSecond the maximum body bytes per second, in each direction separately; excess bytes wait;
 *     0: no limit
 */
public record RuntimeLimits(int maxStreams, int requestsPerSecond, int requestBurst, long maxBodyBytes,
        long bytesPerSecond) {
    public RuntimeLimits {
        requestBurst = requestBurst == 0 ? requestsPerSecond : requestBurst;
    }

    /** Returns these limits, with those of {@code own} in their place. */
    RuntimeLimits with(OwnLimits own) {
        Long burst = own.value(RuntimeLimit.REQUEST_BURST);
        boolean otherRate = own.value(RuntimeLimit.REQUESTS_PER_SECOND) != null;
        // The default burst belongs to the default rate.
        long usualBurst = otherRate ? 0 : requestBurst;
        return new RuntimeLimits((int) either(own, RuntimeLimit.MAX_STREAMS),
                (int) either(own, RuntimeLimit.REQUESTS_PER_SECOND),
                (int) (burst == null ? usualBurst : burst), either(own, RuntimeLimit.MAX_BODY_BYTES),
                either(own, RuntimeLimit.BYTES_PER_SECOND));
    }

    private long either(OwnLimits own, RuntimeLimit limit) {
        Long given = own.value(limit);
        return given == null ? value(limit) : given;
    }

    /** Returns the value of a limit. */
    public long value(RuntimeLimit limit) {
        return switch (limit) {
            case MAX_STREAMS -> maxStreams;
            case REQUESTS_PER_SECOND -> requestsPerSecond;
            case REQUEST_BURST -> requestBurst;
            case MAX_BODY_BYTES -> maxBodyBytes;
            case BYTES_PER_SECOND -> bytesPerSecond;
        };
    }
}
