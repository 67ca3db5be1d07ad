package dev.culvert.relay.quota;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** The usage of one runtime at the edge since the server started. Safe for use by any thread. */
public final class RuntimeUsage {
    private final LongAdder requests = new LongAdder();
    private final LongAdder bytesIn = new LongAdder();
    private final LongAdder bytesOut = new LongAdder();
    private final Map<Refusal, LongAdder> refused = new EnumMap<>(Refusal.class);

    /** The limit for which a request was refused. */
    public enum Refusal {
        /** Concurrent streams. */
        STREAMS,
        /** Requests per second. */
        RATE,
        /** Bytes of a request body. */
        BODY,
        /** The memory budget of the gateway. */
        MEMORY;

        /** The name of the limit in metric labels and in JSON. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public RuntimeUsage() {
        for (Refusal why : Refusal.values()) {
            refused.put(why, new LongAdder());
        }
    }

    void request() {
        requests.increment();
    }

    public void in(int bytes) {
        bytesIn.add(bytes);
    }

    public void out(int bytes) {
        bytesOut.add(bytes);
    }

    /** Counts a refused request. */
    public void refused(Refusal why) {
        of(why).increment();
    }

    /** The number of requests, refused ones included. */
    public long requests() {
        return requests.sum();
    }

    /** The body bytes received from callers. */
    public long bytesIn() {
        return bytesIn.sum();
    }

    /** The body bytes sent to callers. */
    public long bytesOut() {
        return bytesOut.sum();
    }

    /** The number of requests refused for this limit. */
    public long refusals(Refusal why) {
        return of(why).sum();
    }

    private LongAdder of(Refusal why) {
        return Objects.requireNonNull(refused.get(why));
    }
}
