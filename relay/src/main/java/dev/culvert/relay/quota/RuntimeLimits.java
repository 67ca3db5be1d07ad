package dev.culvert.relay.quota;

/**
 * What one runtime may use of the edge, all of it in force.
 *
 * @param maxStreams concurrent streams; above: 503
 * @param requestsPerSecond above: 429; 0: no limit
 * @param requestBurst requests at once after a pause; never 0 where there is a limit per second
 * @param maxBodyBytes of one request; above: 413; 0: no limit
 * @param bytesPerSecond of bodies, in each direction on its own; what is above waits; 0: no limit
 */
public record RuntimeLimits(int maxStreams, int requestsPerSecond, int requestBurst, long maxBodyBytes,
        long bytesPerSecond) {
    public RuntimeLimits {
        requestBurst = requestBurst == 0 ? requestsPerSecond : requestBurst;
    }

    /** These, but for the limits that {@code own} gives. */
    RuntimeLimits with(OwnLimits own) {
        Long burst = own.value(RuntimeLimit.REQUEST_BURST);
        boolean otherRate = own.value(RuntimeLimit.REQUESTS_PER_SECOND) != null;
        // The usual burst belongs to the usual rate.
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

    /** The value of a limit. */
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
