package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What is known of source addresses that called runtimes within the last minutes. A table of fixed size, in
 * which the newer of two sources takes a place that both would have: who is forgotten counts as new. Safe for
 * use by any thread; takes no lock.
 *
 * <pre>
 *  a slot: 46 bits of the hash of runtime and source · 16 bits of the minute · 2 bits of the standing
 * </pre>
 *
 * An answer makes any source a served one, except a slow reader: its responses fill memory when they come.
 */
public final class SourceStandings {
    /** The number of slots, a power of two: 512 KiB. */
    private static final int SLOTS = 1 << 16;
    /** The minutes after which what is known of a source is forgotten. */
    private static final int MINUTES = 10;
    private static final int MINUTE_BITS = 16;
    private static final int STANDING_BITS = 2;
    private static final int WAS_SERVED = 1;
    private static final int DID_GIVE_WAY = 2;
    private static final int READS_SLOWLY = 3;
    private static final int LOW_BITS = MINUTE_BITS + STANDING_BITS;
    private static final long NANOS_OF_A_MINUTE = 60_000_000_000L;

    /** What is known of a source at one runtime. */
    public enum Standing {
        /** Nothing. */
        NEW,
        /** The runtime has answered it. */
        SERVED,
        /** It has held a place of the runtime until another source needed it, without an answer. */
        GAVE_WAY,
        /** A response to it was dropped, because it did not read and memory was short. */
        SLOW;

        /** Whether the source has shown that it takes what others need. */
        boolean isBad() {
            return this == GAVE_WAY || this == SLOW;
        }

        private int bits() {
            return switch (this) {
                case NEW -> 0;
                case SERVED -> WAS_SERVED;
                case GAVE_WAY -> DID_GIVE_WAY;
                case SLOW -> READS_SLOWLY;
            };
        }
    }

    private final AtomicLongArray slots = new AtomicLongArray(SLOTS);
    /** Nobody outside knows which sources share a slot. */
    private final long seed = ThreadLocalRandom.current().nextLong();

    /**
     * Returns what is known of a source.
     *
     * @param runtime a random number that names the runtime
     */
    public Standing of(long runtime, SourceAddress source, long nowNanos) {
        long hash = hash(runtime, source);
        return known(slots.get(place(hash)), hash, nowNanos);
    }

    private static Standing known(long slot, long hash, long nowNanos) {
        int age = minute(nowNanos) - (int) (slot >>> STANDING_BITS) & (1 << MINUTE_BITS) - 1;
        return slot != 0 && slot >>> LOW_BITS == hash >>> LOW_BITS && age < MINUTES
                ? standing(slot)
                : Standing.NEW;
    }

    private static Standing standing(long slot) {
        return switch ((int) slot & (1 << STANDING_BITS) - 1) {
            case WAS_SERVED -> Standing.SERVED;
            case DID_GIVE_WAY -> Standing.GAVE_WAY;
            default -> Standing.SLOW;
        };
    }

    /** Notes what is known of a source now. */
    public void note(long runtime, SourceAddress source, Standing standing, long nowNanos) {
        long hash = hash(runtime, source);
        long minute = minute(nowNanos) & (1 << MINUTE_BITS) - 1;
        long slot = hash >>> LOW_BITS << LOW_BITS | minute << STANDING_BITS | standing.bits();
        long before = slots.get(place(hash));
        if (before != slot && (standing == Standing.SLOW || known(before, hash, nowNanos) != Standing.SLOW)) {
            slots.set(place(hash), slot);
        }
    }

    private static int minute(long nanos) {
        return (int) Math.floorDiv(nanos, NANOS_OF_A_MINUTE);
    }

    /** The low bits choose the slot; the high ones are kept in it. */
    private static int place(long hash) {
        return (int) hash & SLOTS - 1;
    }

    /** The finalizer of SplitMix64, twice. */
    private long hash(long runtime, SourceAddress source) {
        return mixed(mixed(source.network() ^ seed) + runtime + (source.v6() ? 1 : 0));
    }

    private static long mixed(long bits) {
        long mixed = (bits ^ bits >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }
}
