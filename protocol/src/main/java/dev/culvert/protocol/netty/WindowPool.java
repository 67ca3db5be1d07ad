package dev.culvert.protocol.netty;

import dev.culvert.protocol.session.WindowAccount;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The bytes by which all windows of a process may exceed their first size (docs/protocol.md §6). An account
 * may have at most as much as is still free, so that the first to grow leaves room for the next: of n equal
 * accounts each gets one part in n + 1. Safe for use by any thread.
 */
public final class WindowPool {
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
    public WindowAccount account() {
        return new Account();
    }

    /** The bytes that are lent now. */
    public long lent() {
        return lent.get();
    }

    /** What one holder, a runtime, has borrowed with all its sessions. */
    private final class Account implements WindowAccount {
        private final AtomicLong borrowed = new AtomicLong();

        @Override
        public boolean isEmpty() {
            return size == 0;
        }

        /** Afterwards as much is free as this account has, and twice as much as the stream has. */
        @Override
        public boolean borrow(long ofStream, long more) {
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

        @Override
        public void giveBack(long bytes) {
            if (bytes != 0) {
                borrowed.addAndGet(-bytes);
                lent.addAndGet(-bytes);
            }
        }

        @Override
        public boolean wantsBack(long ofStream) {
            if (ofStream == 0) {
                return false;
            }
            long free = size - lent.get();
            return pressed.getAsBoolean() || ofStream > 2 * free || borrowed.get() > 2 * free;
        }
    }
}
