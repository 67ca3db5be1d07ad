package dev.culvert.inbox.store;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The room on the disk that webhooks may still take: they leave a reserve to everything else on it, as to the changes of
 * operators, and take three quarters of it at most. Looks at the disk from time to time and counts what is taken in between. Safe
 * for use by any thread; only {@link #look} blocks.
 */
public final class DiskRoom {
    private static final String DISK_FULL = "the disk is full";
    private static final String READ_ONLY = "the disk can only be read";
    private static final String INBOX_FULL = "the inbox is full";
    /** Of the disk stay free, within the bounds. */
    private static final int RESERVED = 20;
    /** More than the journals of both databases: 16 MiB each, and what a change adds before it is moved. */
    private static final long MOST_RESERVED = 256L << 20;
    private static final long LEAST_RESERVED = 4L << 20;

    private final Disk disk;
    private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
    private volatile String reason = DISK_FULL;

    /** What is known of a disk; blocks. */
    @FunctionalInterface
    interface Disk {
        Space look() throws IOException;
    }

    /**
     * Bytes of a disk.
     *
     * @param total all of it
     * @param free what this user may still write
     * @param writable whether this user may write at all
     */
    record Space(long total, long free, boolean writable) {
        Space(long total, long free) {
            this(total, free, true);
        }

        long reserve() {
            return Math.clamp(total / RESERVED, LEAST_RESERVED, MOST_RESERVED);
        }

        long mostOfInbox() {
            return total - total / 4;
        }
    }

    DiskRoom(Disk disk) {
        this.disk = disk;
    }

    /** On the disk of a folder. Where the disk can't be asked there is always room: writing fails by itself. */
    static DiskRoom of(Path folder) {
        return new DiskRoom(() -> {
            FileStore store = Files.getFileStore(folder);
            return new Space(store.getTotalSpace(), store.getUsableSpace(), Files.isWritable(folder));
        });
    }

    /**
     * Looks at the disk. Blocks.
     *
     * @param used bytes of webhooks, as they are counted
     */
    public void look(long used) {
        @Nullable
        Space space;
        try {
            space = disk.look();
        } catch (IOException unknown) {
            space = null;
        }
        if (space == null) {
            left.set(Long.MAX_VALUE);
            return;
        }
        if (!space.writable) {
            reason = READ_ONLY;
            left.set(0);
            return;
        }
        long ofDisk = space.free - space.reserve();
        long ofInbox = space.mostOfInbox() - used;
        reason = ofInbox < ofDisk ? INBOX_FULL : DISK_FULL;
        left.set(Math.min(ofDisk, ofInbox));
    }

    /** Whether a webhook may be begun. */
    public boolean isThere() {
        return left.get() > 0;
    }

    /** Counts bytes that are about to be written; false: there is no room. */
    public boolean take(long bytes) {
        if (left.addAndGet(-bytes) >= 0) {
            return true;
        }
        left.addAndGet(bytes);
        return false;
    }

    /** Why there is none, for callers. */
    public String reason() {
        return reason;
    }
}
