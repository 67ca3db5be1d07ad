package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one runtime for whose responses bytes wait, by source address, and the choice of who gives
 * way: the slowest reader of the heaviest source. Each reader weighs what waits for it, and at least one
 * window, because so much was granted for it. So the source with most readers gives way before one that has
 * few, however fast their responses came. Of sources that weigh the same, the one with the slowest reader
 * gives way.
 *
 * <p>A choice looks at all readers, so it is made a few times a second, or when it frees at least what a
 * reader holds. Readers are as many as hold bytes of the memory budget. Safe for use by any thread.
 */
final class SlowReaders {
    /** The weight of a reader, at least: the window of a stream (docs/protocol.md §6). */
    private static final int WINDOW = 256 << 10;

    /** The readers of each source, the slowest first: in the order of their marks. Guarded by this. */
    private final Map<SourceAddress, Set<Lag>> bySource = new HashMap<>();
    /** The bytes of readers that were chosen and have not ended yet. Guarded by this. */
    private long leaving;

    /** A source's readers, their weight, and the time for which bytes have waited for the slowest. */
    private record Source(Set<Lag> readers, long weight, long lagNanos) {
        static final Comparator<Source> HEAVIEST_FIRST = Comparator.comparingLong(Source::weight)
                .thenComparingLong(Source::lagNanos)
                .reversed();

        static Source of(Set<Lag> readers, long now) {
            long weight = 0;
            long lag = 0;
            for (Lag reader : readers) {
                int waiting = reader.leaving == 0 ? reader.waiting() : 0;
                if (waiting > 0) {
                    lag = weight == 0 ? reader.lagNanos(now) : lag;
                    weight += Math.max(waiting, WINDOW);
                }
            }
            return new Source(readers, weight, lag);
        }

        /** Without this reader, its slowest. */
        Source without(int waiting, long now) {
            Lag next = slowest(readers);
            return new Source(readers, weight - Math.max(waiting, WINDOW),
                    next == null ? 0 : next.lagNanos(now));
        }
    }

    synchronized void add(SourceAddress source, Lag reader) {
        bySource.computeIfAbsent(source, any -> new LinkedHashSet<>()).add(reader);
    }

    synchronized boolean isEmpty() {
        return bySource.isEmpty();
    }

    /** A reader has consumed what waited at its mark. */
    synchronized void marked(SourceAddress source, Lag reader) {
        Set<Lag> readers = bySource.get(source);
        if (readers != null && readers.remove(reader)) {
            readers.add(reader);
        }
    }

    synchronized void remove(SourceAddress source, Lag reader) {
        stays(reader);
        Set<Lag> readers = bySource.get(source);
        if (readers != null && readers.remove(reader) && readers.isEmpty()) {
            bySource.remove(source);
        }
    }

    /** A reader that was chosen frees no more. */
    synchronized void stays(Lag reader) {
        leaving -= reader.leaving;
        reader.leaving = 0;
    }

    /** The bytes of readers that were chosen and have not ended yet. */
    synchronized long leaving() {
        return leaving;
    }

    /**
     * Lets readers give way until this many bytes are leaving. Returns whether they are.
     *
     * @param leastNanos the lag from which a reader gives way
     * @param spared a source whose readers do not give way; null: all do
     */
    boolean shed(long excess, long now, long leastNanos, @Nullable SourceAddress spared) {
        for (Lag reader : choose(excess, now, leastNanos, spared)) {
            reader.giveWay(now);
        }
        return leaving() >= excess;
    }

    private synchronized List<Lag> choose(long excess, long now, long leastNanos,
            @Nullable SourceAddress spared) {
        List<Lag> chosen = new ArrayList<>();
        if (leaving >= excess) {
            return chosen;
        }
        var heaviest = new PriorityQueue<>(Source.HEAVIEST_FIRST);
        bySource.forEach((source, readers) -> {
            if (!source.equals(spared)) {
                heaviest.add(Source.of(readers, now));
            }
        });
        while (leaving < excess && !heaviest.isEmpty()) {
            Source source = heaviest.remove();
            Lag slowest = slowest(source.readers);
            if (slowest != null && slowest.lagNanos(now) >= leastNanos) {
                int waiting = Math.max(1, slowest.waiting());
                slowest.leaving = waiting;
                leaving += waiting;
                chosen.add(slowest);
                heaviest.add(source.without(waiting, now));
            }
        }
        return chosen;
    }

    private static @Nullable Lag slowest(Set<Lag> readers) {
        for (Lag reader : readers) {
            if (reader.leaving == 0 && reader.waiting() > 0) {
                return reader;
            }
        }
        return null;
    }
}
