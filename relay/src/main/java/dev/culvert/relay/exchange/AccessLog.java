package dev.culvert.relay.exchange;

import dev.culvert.http.observe.Telemetry;
import io.micrometer.core.instrument.FunctionCounter;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import reactor.core.publisher.Mono;

/**
 * Writes one line for each request to the logger {@code access} (docs/operations.md). A separate thread
 * writes, so that a slow terminal or disk delays no event loop. Entries that exceed its queue are dropped and
 * counted.
 */
public final class AccessLog {
    /**
     * The maximum number of queued entries: one to two megabytes. At 20,000 requests per second the writer
     * may stall for 0.4 s.
     */
    static final int MAX_WAITING = 8192;
    private static final Logger log = LoggerFactory.getLogger("access");

    private final Consumer<AccessLine> write;
    private final Queue<AccessLine> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    private final LongAdder dropped = new LongAdder();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Thread writer;
    private volatile boolean idle;
    private volatile boolean closing;

    AccessLog(Consumer<AccessLine> write) {
        this.write = write;
        writer = Thread.ofPlatform().daemon().name("access-log").unstarted(this::run);
    }

    /** Starts a log. The caller must close it. */
    public static AccessLog start(Telemetry telemetry) {
        return new AccessLog(AccessLog::line).shown(telemetry).begin();
    }

    AccessLog shown(Telemetry telemetry) {
        FunctionCounter.builder("culvert.access.log.dropped", dropped, LongAdder::sum)
                .register(telemetry.registry());
        return this;
    }

    AccessLog begin() {
        writer.start();
        return this;
    }

    /** Queues an entry, or drops it. Any thread; never waits. */
    public void add(AccessLine entry) {
        if (count.incrementAndGet() > MAX_WAITING || closing) {
            count.decrementAndGet();
            dropped.increment();
            return;
        }
        waiting.add(entry);
        if (idle) {
            LockSupport.unpark(writer);
        }
    }

    /** The number of entries that were dropped because the queue was full. */
    long dropped() {
        return dropped.sum();
    }

    /** Writes the queued entries, then ends the thread. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            closing = true;
            LockSupport.unpark(writer);
            return Mono.fromFuture(ended, true);
        });
    }

    private void run() {
        while (true) {
            AccessLine entry = waiting.poll();
            if (entry != null) {
                count.decrementAndGet();
                write.accept(entry);
            } else if (closing) {
                ended.complete(null);
                return;
            } else {
                idle = true;
                if (waiting.isEmpty() && !closing) {
                    LockSupport.park(this);
                }
                idle = false;
            }
        }
    }

    private static void line(AccessLine entry) {
        if (!log.isInfoEnabled()) {
            return;
        }
        LoggingEventBuilder line = log.atInfo();
        entry.tell((key, value) -> {
            var _ = line.addKeyValue(key, value);
        });
        line.log("request");
    }
}
