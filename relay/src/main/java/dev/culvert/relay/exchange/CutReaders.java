package dev.culvert.relay.exchange;

import dev.culvert.http.observe.LinePace;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs callers that were cut because they accepted too little of a response. The line of a
 * complete one in the access log is written by then. At most one line a second is logged. Safe for use by any
 * thread.
 */
final class CutReaders {
    private static final Logger log = LoggerFactory.getLogger(CutReaders.class);

    private final Counter count;
    private final LinePace pace = new LinePace(Duration.ofSeconds(1));

    CutReaders(MeterRegistry registry) {
        count = registry.counter("culvert.edge.unread.responses");
    }

    /** Counts a caller, by its address. */
    void add(String caller) {
        count.increment();
        long responses = pace.add();
        if (responses > 0) {
            log.atWarn()
                    .addKeyValue("caller", caller)
                    .addKeyValue("responses", responses)
                    .log("response dropped: its caller did not read it, or too slowly while memory was short");
        }
    }
}
