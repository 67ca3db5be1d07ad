package dev.culvert.inbox.intake;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Limits the webhooks whose bodies are arriving: memory for heads and received bytes, in total and for each
 * runtime, and bytes of large bodies in files that no row names yet, for each runtime. Source addresses share
 * each limit: when it is reached, the source that uses most loses its newest intake. Safe for use by any
 * thread.
 */
final class Intakes {
    private final Quota<SourceAddress> memory;
    private final long runtimeMemory;
    private final long runtimeFiles;
    /** The shares of runtimes with an intake. */
    private final Map<String, Share> shares = new ConcurrentHashMap<>();

    private static final class Share {
        final Quota<SourceAddress> memory;
        final Quota<SourceAddress> files;
        /** The number of intakes. Changed only within the map's compute. */
        int intakes;

        Share(long memory, long files) {
            this.memory = new Quota<>(memory);
            this.files = new Quota<>(files);
        }
    }

    /**
     * @param memory the maximum bytes in memory, in total
     * @param runtimeMemory the maximum bytes in memory for one runtime
     * @param runtimeFiles the maximum bytes in files for one runtime
     */
    Intakes(long memory, long runtimeMemory, long runtimeFiles) {
        this.memory = new Quota<>(memory);
        this.runtimeMemory = runtimeMemory;
        this.runtimeFiles = runtimeFiles;
    }

    /**
     * Begins an intake that takes bytes at once. Returns null if there is no room.
     *
     * @param giveWay runs once, on any thread, when the intake must end for another source's
     */
    @Nullable
    Intake open(String runtime, SourceAddress source, long bytes, Runnable giveWay) {
        Quota<SourceAddress>.Claim whole = memory.tryOpen(source, bytes, giveWay);
        if (whole == null) {
            return null;
        }
        Share share = join(runtime);
        Quota<SourceAddress>.Claim own = share.memory.tryOpen(source, bytes, giveWay);
        if (own == null) {
            whole.close();
            leave(runtime);
            return null;
        }
        return new Intake(runtime, share, whole, own, giveWay);
    }

    private Share join(String runtime) {
        Share joined = shares.compute(runtime, (id, present) -> {
            Share share = present == null ? new Share(runtimeMemory, runtimeFiles) : present;
            share.intakes++;
            return share;
        });
        return joined;
    }

    private void leave(String runtime) {
        shares.computeIfPresent(runtime, (id, share) -> --share.intakes == 0 ? null : share);
    }

    /** The bytes in memory. */
    long memoryUsed() {
        return memory.used();
    }

    /** The bytes in files that no row names yet. */
    long filesUsed() {
        return shares.values().stream().mapToLong(share -> share.files.used()).sum();
    }

    /** The account of one webhook while it arrives. Belongs to one event loop. */
    final class Intake {
        private final String runtime;
        private final Share share;
        private final Quota<SourceAddress>.Claim whole;
        private final Quota<SourceAddress>.Claim own;
        private final Runnable giveWay;
        private Quota<SourceAddress>.@Nullable Claim file;
        private boolean closed;

        private Intake(String runtime, Share share, Quota<SourceAddress>.Claim whole,
                Quota<SourceAddress>.Claim own, Runnable giveWay) {
            this.runtime = runtime;
            this.share = share;
            this.whole = whole;
            this.own = own;
            this.giveWay = giveWay;
        }

        /** Returns the source address of the sender. */
        SourceAddress source() {
            return whole.account();
        }

        /** Takes memory. Returns false if there is no room, or the intake was displaced. */
        boolean grow(long bytes) {
            if (!whole.tryTake(bytes)) {
                return false;
            }
            if (!own.tryTake(bytes)) {
                whole.give(bytes);
                return false;
            }
            return true;
        }

        /** Whether half of the memory is in use, in total or for its runtime. */
        boolean isCrowded() {
            return memory.used() >= memory.max() / 2 || share.memory.used() >= share.memory.max() / 2;
        }

        void shrink(long bytes) {
            whole.give(bytes);
            own.give(bytes);
        }

        /** Takes bytes of a file. Returns false if there is no room. */
        boolean growFile(long bytes) {
            Quota<SourceAddress>.Claim claim = file;
            if (claim == null) {
                claim = share.files.open(own.account(), giveWay);
                file = claim;
            }
            return claim.tryTake(bytes);
        }

        /**
         * The body is complete. Its memory is accounted elsewhere, and it cannot be displaced any more. Its
         * file counts until {@link #close}.
         */
        void arrived() {
            whole.close();
            own.close();
        }

        /** Returns everything. Further calls have no effect. */
        void close() {
            if (closed) {
                return;
            }
            closed = true;
            arrived();
            Quota<SourceAddress>.Claim claim = file;
            if (claim != null) {
                claim.close();
            }
            leave(runtime);
        }
    }
}
