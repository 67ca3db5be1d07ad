package dev.culvert.benchmarks.result;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * A distribution of latencies, in microseconds.
 *
 * @param histogram the whole distribution: HdrHistogram's compressed encoding V2 in Base64, its unit
 *     nanoseconds
 */
public record Latency(double p50, double p90, double p99, double p999, double max, double mean,
        String histogram) {
    private static final double NANOS_PER_MICRO = 1000;

    /**
     * Summarizes a distribution.
     *
     * @param histogram of nanoseconds
     */
    public static Latency of(Histogram histogram) {
        ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(bytes);
        byte[] encoded = new byte[length];
        bytes.get(0, encoded);
        return new Latency(micros(histogram, 50), micros(histogram, 90), micros(histogram, 99),
                micros(histogram, 99.9), histogram.getMaxValue() / NANOS_PER_MICRO,
                histogram.getMean() / NANOS_PER_MICRO, Base64.getEncoder().encodeToString(encoded));
    }

    private static double micros(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
    }

    /** The whole distribution, of nanoseconds. Throws IllegalArgumentException. */
    public Histogram distribution() {
        try {
            return Histogram.decodeFromCompressedByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(histogram)), 0);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("not a histogram", e);
        }
    }
}
