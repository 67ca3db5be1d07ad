package dev.culvert.relay.quota;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A limit that the server sets for all runtimes, and that each runtime may override. */
public enum RuntimeLimit {
    /** The maximum concurrent streams; above: 503. */
    MAX_STREAMS("maxStreams", 1, 1_000_000, "a whole number, 1..1000000"),
    /** The maximum requests per second; above: 429. 0: no limit. */
    REQUESTS_PER_SECOND("requestsPerSecond", 0, 1_000_000,
            "a whole number, 0..1000000; 0 for no limit"),
    /** The maximum requests at once after a pause. 0: as many as per second. */
    REQUEST_BURST("requestBurst", 0, 1_000_000,
            "a whole number, 0..1000000; 0 for as many as requestsPerSecond"),
    /** The maximum bytes of a request body; above: 413. 0: no limit. */
    MAX_BODY_BYTES("maxBodyBytes", 0, 1L << 50,
            "bytes, or a size as 25MiB, up to 1048576GiB; 0 for no limit"),
    /** The maximum body bytes per second, in each direction separately; excess bytes wait. 0: no limit. */
    BYTES_PER_SECOND("bytesPerSecond", 0, 1L << 40,
            "bytes, or a size as 10MiB, 1KiB..1024GiB; 0 for no limit");

    private static final long MIN_RATE = 1 << 10;

    private final String key;
    private final long least;
    private final long most;
    private final String accepts;

    RuntimeLimit(String key, long least, long most, String accepts) {
        this.key = key;
        this.least = least;
        this.most = most;
        this.accepts = accepts;
    }

    /** The name of the limit in the configuration, the admin API and the store. */
    public String key() {
        return key;
    }

    /** A description of the accepted values. */
    public String accepts() {
        return accepts;
    }

    /** Whether the limit accepts this value. */
    public boolean takes(long value) {
        boolean slower = this == BYTES_PER_SECOND && value > 0 && value < MIN_RATE;
        return value >= least && value <= most && !slower;
    }

    /** Whether the value is a number of bytes, which may be written as a size. */
    public boolean isSize() {
        return this == MAX_BODY_BYTES || this == BYTES_PER_SECOND;
    }

    /** Returns the limit with this key, or null. */
    public static @Nullable RuntimeLimit of(String key) {
        return Arrays.stream(values()).filter(limit -> limit.key.equals(key)).findAny().orElse(null);
    }

    /** Returns all keys. */
    public static List<String> keys() {
        return Arrays.stream(values()).map(RuntimeLimit::key).toList();
    }
}
