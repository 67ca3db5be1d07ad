package dev.culvert.relay.exchange;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs callers that were cut because they accepted too little of a response. The line of a
 * complete one in the access log is written by then. At most one line a second is logged. Safe for use by any
 * thread.
 */
final class CutReaders {
    private static final Logger log = LoggerFactory.getLogger(CutReaders.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Counter count;
    private final AtomicLong nextNanos = new AtomicLong(System.nanoTime());
    private final AtomicLong unsaid = new AtomicLong();

    CutReaders(MeterRegistry registry) {
        count = registry.counter("culvert.edge.unread.responses");
    }

    /** Counts a caller, by its address. */
    void add(String caller) {
        count.increment();
        long more = unsaid.incrementAndGet();
        long next = nextNanos.get();
        long now = System.nanoTime();
        if (now - next >= 0 && nextNanos.compareAndSet(next, now + INTERVAL_NANOS)) {
            unsaid.addAndGet(-more);
            log.atWarn()
                    .addKeyValue("caller", caller)
                    .addKeyValue("responses", more)
                    .log("response dropped: its caller did not read it, or too slowly while memory was short");
        }
    }
}
