package dev.culvert.inbox.store;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the disk space that webhooks may still take. They leave a reserve for all other data on the disk,
 * such as operators' changes, and take at most three quarters of the disk. Measures the disk from time to
 * time, and counts the written bytes in between. When less than twice the reserve is left, it asks for kept
 * webhooks to be dropped, so that new ones are not refused because of them. Safe for use by any thread; only
 * {@link #look} blocks.
 */
public final class DiskRoom {
    private static final String DISK_FULL = "the disk is full";
    private static final String READ_ONLY = "the disk can only be read";
    private static final String INBOX_FULL = "the inbox is full";
    /** One part in this many of the disk stays free, within the bounds below. */
    private static final int RESERVED = 20;
    /**
     * More than the journals of both databases: 16 MiB each, plus the bytes that a change adds before a
     * checkpoint.
     */
    private static final long MAX_RESERVED = 256L << 20;
    private static final long MIN_RESERVED = 4L << 20;

    private final Disk disk;
    private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
    private volatile String reason = DISK_FULL;
    /** The bytes that should be left for new webhooks; 0: dropping kept ones does not help. */
    private volatile long wanted;
    private volatile Runnable whenShort = () -> {};

    /** Measures a disk. Blocks. */
    @FunctionalInterface
    interface Disk {
        Space look() throws IOException;
    }

    /**
     * The size of a disk, in bytes.
     *
     * @param total the capacity
     * @param free the bytes that this user may still write
     * @param writable whether this user may write at all
     */
    record Space(long total, long free, boolean writable) {
        Space(long total, long free) {
            this(total, free, true);
        }

        long reserve() {
            return Math.clamp(total / RESERVED, MIN_RESERVED, MAX_RESERVED);
        }

        /** The bytes that kept webhooks leave for new ones, besides. */
        long forNew() {
            return 2 * reserve();
        }

        long mostOfInbox() {
            return total - total / 4;
        }
    }

    DiskRoom(Disk disk) {
        this.disk = disk;
    }

    /**
     * Creates the room on the disk of a folder. If the disk cannot be measured, the room is unlimited, and
     * writes fail by themselves.
     */
    static DiskRoom of(Path folder) {
        return new DiskRoom(() -> {
            FileStore store = Files.getFileStore(folder);
            return new Space(store.getTotalSpace(), store.getUsableSpace(), Files.isWritable(folder));
        });
    }

    /** Sets what runs when room is short, on any thread and often; it must not block. */
    public void whenShort(Runnable makeRoom) {
        whenShort = makeRoom;
    }

    /** The bytes that are missing for new webhooks; 0: there are enough, or they cannot be had. */
    long shortage() {
        return Math.max(0, wanted - left.get());
    }

    /**
     * Measures the disk. Blocks.
     *
     * @param used the bytes of webhooks, as quotas count them
     * @param reusable the bytes of the database's file that the next webhooks may use
     */
    public void look(long used, long reusable) {
        measure(used, reusable);
        askIfShort();
    }

    private void askIfShort() {
        if (left.get() < wanted) {
            whenShort.run();
        }
    }

    private void measure(long used, long reusable) {
        @Nullable
        Space space;
        try {
            space = disk.look();
        } catch (IOException unknown) {
            space = null;
        }
        if (space == null) {
            wanted = 0;
            left.set(Long.MAX_VALUE);
            return;
        }
        if (!space.writable) {
            wanted = 0;
            reason = READ_ONLY;
            left.set(0);
            return;
        }
        long ofDisk = space.free - space.reserve() + reusable;
        long ofInbox = space.mostOfInbox() - used;
        reason = ofInbox < ofDisk ? INBOX_FULL : DISK_FULL;
        left.set(Math.min(ofDisk, ofInbox));
        wanted = space.forNew();
    }

    /** Whether there is room to begin another webhook. */
    public boolean isThere() {
        return left.get() > 0;
    }

    /** Counts bytes that are about to be written. Returns false if there is no room. */
    public boolean take(long bytes) {
        if (left.addAndGet(-bytes) >= 0) {
            askIfShort();
            return true;
        }
        left.addAndGet(bytes);
        whenShort.run();
        return false;
    }

    /** Returns the bytes of kept webhooks that were dropped. */
    public void give(long bytes) {
        left.addAndGet(bytes);
    }

    /** The reason for missing room, for callers. */
    public String reason() {
        return reason;
    }
}
