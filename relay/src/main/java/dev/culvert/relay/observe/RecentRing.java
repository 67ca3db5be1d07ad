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
    private final @Nullable KeptRequest[] ring = new KeptRequest[MAX_REQUESTS];
    private int oldest;
    private int size;
    private long bytes;

    /** @param before the number of the last request before it */
    RecentRing(Instant since, long before) {
        this.since = since;
        this.before = before;
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
        while (size == MAX_REQUESTS || (bytes > MAX_BYTES && size > 0)) {
            bytes -= get(0).bytes();
            ring[oldest] = null;
            oldest = (oldest + 1) % MAX_REQUESTS;
            size--;
        }
        ring[(oldest + size) % MAX_REQUESTS] = request;
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
        return Objects.requireNonNull(ring[(oldest + index) % MAX_REQUESTS]);
    }
}
