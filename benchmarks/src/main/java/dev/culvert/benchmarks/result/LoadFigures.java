package dev.culvert.benchmarks.result;

import java.util.Map;

/**
 * What callers noticed in one measured time.
 *
 * @param requests the exchanges that succeeded
 * @param errors the number of those that failed, by reason
 * @param bytes the body bytes that callers sent and received in the measured time
 * @param seconds the measured time
 * @param latency of the exchanges that succeeded; in an open loop from the intended start
 */
public record LoadFigures(long requests, Map<String, Long> errors, long bytes, double seconds,
        Latency latency) {
    public LoadFigures {
        errors = Map.copyOf(errors);
    }

    /**
     * Whether all exchanges succeeded, and there was one: else no ratio may be made of the figures. Named so
     * that the result file does not get it as a property.
     */
    public boolean sound() {
        return requests > 0 && failed() == 0;
    }

    public double perSecond() {
        return requests / seconds;
    }

    public double bytesPerSecond() {
        return bytes / seconds;
    }

    public long failed() {
        return errors.values().stream().mapToLong(Long::longValue).sum();
    }
}
