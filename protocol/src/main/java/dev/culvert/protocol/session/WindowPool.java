package dev.culvert.protocol.session;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The bytes by which all windows of a process may exceed their first size (docs/protocol.md §6). A holder may
 * have at most as much as is still free, so that the first to grow leaves room for the next: of n equal
 * holders each gets one part in n + 1. Safe for use by any thread.
 */
public final class WindowPool {
    /** Lends nothing: all windows keep their first size. */
    public static final WindowPool NONE = new WindowPool(0, () -> true);

    private final long size;
    private final BooleanSupplier pressed;
    private final AtomicLong lent = new AtomicLong();

    /**
     * @param size bytes
     * @param pressed whether memory is short now: nothing is lent, and what is lent is wanted back. Called
     *     often, on event loops
     */
    public WindowPool(long size, BooleanSupplier pressed) {
        this.size = size;
        this.pressed = pressed;
    }

    /** Whether nothing is ever lent. */
    boolean isEmpty() {
        return size == 0;
    }

    /**
     * Lends {@code more} bytes, if that is fair.
     *
     * @param ofStream the bytes that the stream has borrowed; twice as much must stay free
     * @param ofSession the bytes that all streams of its session have borrowed; as much must stay free
     */
    boolean borrow(long ofStream, long ofSession, long more) {
        if (pressed.getAsBoolean()) {
            return false;
        }
        long now = lent.addAndGet(more);
        long free = size - now;
        if (ofSession + more <= free && 2 * (ofStream + more) <= free) {
            return true;
        }
        lent.addAndGet(-more);
        return false;
    }

    /** Takes back borrowed bytes. */
    void giveBack(long bytes) {
        if (bytes != 0) {
            lent.addAndGet(-bytes);
        }
    }

    /**
     * Whether a stream should give back a part of its {@code borrowed} bytes, because others have borrowed
     * since, or because memory is short.
     */
    boolean wantsBack(long borrowed) {
        return borrowed > 0 && (pressed.getAsBoolean() || borrowed > 2 * (size - lent.get()));
    }

    /** The bytes that are lent now. */
    public long lent() {
        return lent.get();
    }
}
