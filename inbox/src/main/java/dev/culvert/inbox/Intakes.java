package dev.culvert.inbox;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The webhooks whose bodies are arriving, and what they cost: memory for heads and bytes that are here, in all and of each
 * runtime, and bytes of large bodies in files that no row names yet, of each runtime. Source addresses share each of them: when it
 * is full, the newest intake of the source that uses most gives way. Safe for use by any thread.
 */
public final class Intakes {
    private final Quota<SourceAddress> memory;
    private final long runtimeMemory;
    private final long runtimeFiles;
    /** Of runtimes with an intake. */
    private final Map<String, Share> shares = new ConcurrentHashMap<>();

    private static final class Share {
        final Quota<SourceAddress> memory;
        final Quota<SourceAddress> files;
        /** Changed within the map's compute. */
        int intakes;

        Share(long memory, long files) {
            this.memory = new Quota<>(memory);
            this.files = new Quota<>(files);
        }
    }

    /**
     * @param memory bytes in memory, in all
     * @param runtimeMemory of those, for one runtime
     * @param runtimeFiles bytes in files of one runtime
     */
    Intakes(long memory, long runtimeMemory, long runtimeFiles) {
        this.memory = new Quota<>(memory);
        this.runtimeMemory = runtimeMemory;
        this.runtimeFiles = runtimeFiles;
    }

    /**
     * Begins an intake that costs bytes at once; null: there is no room.
     *
     * @param giveWay runs once, on any thread, when the intake has to end for another source's
     */
    public @Nullable Intake open(String runtime, SourceAddress source, long bytes, Runnable giveWay) {
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

    /** Bytes in memory. */
    long memoryUsed() {
        return memory.used();
    }

    /** Bytes in files that no row names yet. */
    long filesUsed() {
        return shares.values().stream().mapToLong(share -> share.files.used()).sum();
    }

    /** What one webhook costs while it arrives. Of one loop. */
    public final class Intake {
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

        /** Takes memory; false: there is no room, or the intake gave way. */
        public boolean grow(long bytes) {
            if (!whole.tryTake(bytes)) {
                return false;
            }
            if (!own.tryTake(bytes)) {
                whole.give(bytes);
                return false;
            }
            return true;
        }

        /** Whether half of the memory is taken, of all webhooks or of those of its runtime. */
        public boolean isCrowded() {
            return memory.used() >= memory.max() / 2 || share.memory.used() >= share.memory.max() / 2;
        }

        public void shrink(long bytes) {
            whole.give(bytes);
            own.give(bytes);
        }

        /** Takes bytes of a file; false: there is no room. */
        public boolean growFile(long bytes) {
            Quota<SourceAddress>.Claim claim = file;
            if (claim == null) {
                claim = share.files.open(own.account(), giveWay);
                file = claim;
            }
            return claim.tryTake(bytes);
        }

        /** The body is whole: its memory is somebody else's, and it does not give way any more. Its file counts until {@link #close}. */
        public void arrived() {
            whole.close();
            own.close();
        }

        /** Gives everything back; again: does nothing. */
        public void close() {
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
