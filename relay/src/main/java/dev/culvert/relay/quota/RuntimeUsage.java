package dev.culvert.relay.quota;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** What one runtime has used of the edge since the server started. Safe for use by any thread. */
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
        /** Bytes that the gateway may hold. */
        MEMORY;

        /** The label of metrics, and the member of JSON. */
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

    /** A request was refused. */
    public void refused(Refusal why) {
        of(why).increment();
    }

    /** Requests that came, refused ones included. */
    public long requests() {
        return requests.sum();
    }

    /** Body bytes that callers sent. */
    public long bytesIn() {
        return bytesIn.sum();
    }

    /** Body bytes that callers were sent. */
    public long bytesOut() {
        return bytesOut.sum();
    }

    /** Requests refused for this limit. */
    public long refusals(Refusal why) {
        return of(why).sum();
    }

    private LongAdder of(Refusal why) {
        return Objects.requireNonNull(refused.get(why));
    }
}
