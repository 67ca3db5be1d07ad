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
 * few, however fast their responses came.
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

    private record Source(Set<Lag> readers, long weight) {
        static final Comparator<Source> HEAVIEST_FIRST = Comparator.comparingLong(source -> -source.weight);

        static Source of(Set<Lag> readers) {
            long weight = 0;
            for (Lag reader : readers) {
                int waiting = reader.leaving == 0 ? reader.waiting() : 0;
                weight += waiting == 0 ? 0 : Math.max(waiting, WINDOW);
            }
            return new Source(readers, weight);
        }

        Source without(int waiting) {
            return new Source(readers, weight - Math.max(waiting, WINDOW));
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
     */
    boolean shed(long excess, long now, long leastNanos) {
        for (Lag reader : choose(excess, now, leastNanos)) {
            reader.giveWay();
        }
        return leaving() >= excess;
    }

    private synchronized List<Lag> choose(long excess, long now, long leastNanos) {
        List<Lag> chosen = new ArrayList<>();
        if (leaving >= excess) {
            return chosen;
        }
        var heaviest = new PriorityQueue<>(Source.HEAVIEST_FIRST);
        bySource.values().forEach(readers -> heaviest.add(Source.of(readers)));
        while (leaving < excess && !heaviest.isEmpty()) {
            Source source = heaviest.remove();
            Lag slowest = slowest(source.readers, now, leastNanos);
            if (slowest != null) {
                int waiting = Math.max(1, slowest.waiting());
                slowest.leaving = waiting;
                leaving += waiting;
                chosen.add(slowest);
                heaviest.add(source.without(waiting));
            }
        }
        return chosen;
    }

    private static @Nullable Lag slowest(Set<Lag> readers, long now,
            long leastNanos) {
        for (Lag reader : readers) {
            if (reader.leaving == 0 && reader.waiting() > 0) {
                return reader.lagNanos(now) >= leastNanos ? reader : null;
            }
        }
        return null;
    }
}
