package dev.culvert.protocol.session;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The bytes by which all windows of a process may exceed their first size (docs/protocol.md §6). An account
 * may have at most as much as is still free, so that the first to grow leaves room for the next: of n equal
 * accounts each gets one part in n + 1. Safe for use by any thread.
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

    /** Returns a new account. */
    public Account account() {
        return new Account();
    }

    /** The bytes that are lent now. */
    public long lent() {
        return lent.get();
    }

    /** What one holder, a runtime, has borrowed with all its sessions. Safe for use by any thread. */
    public final class Account {
        private final AtomicLong borrowed = new AtomicLong();

        private Account() {}

        /** Whether nothing is ever lent. */
        boolean isEmpty() {
            return size == 0;
        }

        /**
         * Lends {@code more} bytes if, afterwards, as much is free as this account has, and twice as much as
         * the stream has.
         *
         * @param ofStream the bytes that the stream has borrowed
         */
        boolean borrow(long ofStream, long more) {
            if (pressed.getAsBoolean()) {
                return false;
            }
            long free = size - lent.addAndGet(more);
            long own = borrowed.addAndGet(more);
            if (own <= free && 2 * (ofStream + more) <= free) {
                return true;
            }
            giveBack(more);
            return false;
        }

        /** Takes back borrowed bytes. */
        void giveBack(long bytes) {
            if (bytes != 0) {
                borrowed.addAndGet(-bytes);
                lent.addAndGet(-bytes);
            }
        }

        /**
         * Whether a stream should give back a part of its {@code ofStream} bytes, because others have
         * borrowed since, or because memory is short.
         */
        boolean wantsBack(long ofStream) {
            if (ofStream == 0) {
                return false;
            }
            long free = size - lent.get();
            return pressed.getAsBoolean() || ofStream > 2 * free || borrowed.get() > 2 * free;
        }
    }
}
