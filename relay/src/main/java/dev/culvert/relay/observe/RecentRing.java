package dev.culvert.relay.observe;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The newest requests, whatever they are. Bounded by their number and their bytes. Not safe for use by
 * several threads.
 */
final class RecentRing {
    static final int MAX_REQUESTS = 4096;
    static final int MAX_BYTES = 4 << 20;

    private final Instant since;
    private final long before;
    private final @Nullable KeptRequest[] ring;
    private final int maxBytes;
    private int oldest;
    private int size;
    private long bytes;

    /**
     * @param before the number of the last request before it
     * @param requests the maximum number of requests
     * @param maxBytes the maximum of their bytes
     */
    RecentRing(Instant since, long before, int requests, int maxBytes) {
        this.since = since;
        this.before = before;
        this.ring = new KeptRequest[requests];
        this.maxBytes = maxBytes;
    }

    Instant since() {
        return since;
    }

    long before() {
        return before;
    }

    long bytes() {
        return bytes;
    }

    void add(KeptRequest request) {
        bytes += request.bytes();
        while (size == ring.length || (bytes > maxBytes && size > 0)) {
            bytes -= get(0).bytes();
            ring[oldest] = null;
            oldest = (oldest + 1) % ring.length;
            size--;
        }
        ring[(oldest + size) % ring.length] = request;
        size++;
    }

    /** The requests with a number above {@code after}, oldest first. */
    List<KeptRequest> since(long after) {
        int first = size;
        while (first > 0 && get(first - 1).number() > after) {
            first--;
        }
        List<KeptRequest> found = new ArrayList<>(size - first);
        for (int i = first; i < size; i++) {
            found.add(get(i));
        }
        return found;
    }

    private KeptRequest get(int index) {
        return Objects.requireNonNull(ring[(oldest + index) % ring.length]);
    }
}
