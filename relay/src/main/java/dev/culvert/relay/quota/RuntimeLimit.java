package dev.culvert.relay.quota;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A limit that the server sets for each runtime, and that a runtime may have of its own. */
public enum RuntimeLimit {
    /** Concurrent streams; more is answered 503. */
    MAX_STREAMS("maxStreams", 1, 1_000_000, "a whole number, 1..1000000"),
    /** Requests per second; more is answered 429. 0: no limit. */
    REQUESTS_PER_SECOND("requestsPerSecond", 0, 1_000_000,
            "a whole number, 0..1000000; 0 for no limit"),
    /** Requests at once after a pause. 0: as many as per second. */
    REQUEST_BURST("requestBurst", 0, 1_000_000,
            "a whole number, 0..1000000; 0 for as many as requestsPerSecond"),
    /** Bytes of a request body; more is answered 413. 0: no limit. */
    MAX_BODY_BYTES("maxBodyBytes", 0, 1L << 50,
            "bytes, or a size as 25MiB, up to 1048576GiB; 0 for no limit"),
    /** Body bytes per second, in each direction on its own; more wait. 0: no limit. */
    BYTES_PER_SECOND("bytesPerSecond", 0, 1L << 40,
            "bytes, or a size as 10MiB, 1KiB..1024GiB; 0 for no limit");

    private static final long LEAST_RATE = 1 << 10;

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

    /** Its name in the configuration, the admin API and the store. */
    public String key() {
        return key;
    }

    /** What is accepted, in words. */
    public String accepts() {
        return accepts;
    }

    /** Whether it can have this value. */
    public boolean takes(long value) {
        boolean slower = this == BYTES_PER_SECOND && value > 0 && value < LEAST_RATE;
        return value >= least && value <= most && !slower;
    }

    /** Whether its value is a number of bytes, which may be written as a size. */
    public boolean isSize() {
        return this == MAX_BODY_BYTES || this == BYTES_PER_SECOND;
    }

    /** The limit of a key, or null. */
    public static @Nullable RuntimeLimit of(String key) {
        return Arrays.stream(values()).filter(limit -> limit.key.equals(key)).findAny().orElse(null);
    }

    /** All keys. */
    public static List<String> keys() {
        return Arrays.stream(values()).map(RuntimeLimit::key).toList();
    }
}
