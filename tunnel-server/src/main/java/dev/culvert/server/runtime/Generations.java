package dev.culvert.server.runtime;

import dev.culvert.store.StoreException;
import java.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Gives out the generations of tunnels, each higher than all before, restarts included. Generations are
 * reserved in blocks, so a connect does not wait for the disk. A restart begins above the last block, and not
 * below the clock. Therefore a database restored from a backup repeats none. Callable on any thread; never
 * blocks.
 *
 * <p>When the store can't reserve more, connects go on. Then only the clock prevents a restart from repeating
 * generations.
 */
public final class Generations implements LongSupplier {
    /**
     * The number of generations in a block. A start may skip as many: counted in the clock's milliseconds,
     * that is less than a start takes.
     */
    static final int BLOCK = 1024;
    /**
     * The rest of a block at which the next is reserved: more connects than arrive during one write to disk.
     */
    static final int LOW = BLOCK / 2;
    private static final Logger log = LoggerFactory.getLogger(Generations.class);

    private final GenerationStore store;
    private final AtomicLong last;
    private final AtomicLong ceiling;
    private final AtomicBoolean reserving = new AtomicBoolean();

    private Generations(GenerationStore store, long last, long ceiling) {
        this.store = store;
        this.last = new AtomicLong(last);
        this.ceiling = new AtomicLong(ceiling);
    }

    /** Reserves the first block. Errors: {@link StoreException}. */
    public static Mono<Generations> open(GenerationStore store, Clock clock) {
        return Mono.defer(() -> {
            long now = clock.millis();
            return store.raise(now + BLOCK).flatMap(before -> {
                long start = Math.max(before, now);
                Mono<Long> raised = before > now ? store.raise(start + BLOCK) : Mono.just(before);
                return raised.map(mark -> new Generations(store, start, start + BLOCK));
            });
        });
    }

    /** Returns the next generation. */
    @Override
    public long getAsLong() {
        long next = last.incrementAndGet();
        if (ceiling.get() - next < LOW && reserving.compareAndSet(false, true)) {
            reserve(next + BLOCK);
        }
        return next;
    }

    private void reserve(long wanted) {
        store.raise(wanted).doFinally(ended -> {
            // Also after a failure: the next attempt is a block later, not at each connect.
            ceiling.accumulateAndGet(wanted, Math::max);
            reserving.set(false);
        })
                .subscribe(before -> {},
                        failed -> log.atWarn()
                                .addKeyValue("reason", failed.getMessage())
                                .log("generations could not be reserved; connects go on"));
    }
}
