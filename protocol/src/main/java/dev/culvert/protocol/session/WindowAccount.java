package dev.culvert.protocol.session;

/**
 * Lends the bytes by which the windows of one holder's streams exceed their first size (docs/protocol.md §6).
 * Implementations are safe for use by any thread.
 */
public interface WindowAccount {
    /** Lends nothing: all windows keep their first size. */
    WindowAccount NONE = new WindowAccount() {
        @Override
        public boolean isEmpty() {
            return true;
        }

        @Override
        public boolean borrow(long ofStream, long more) {
            return false;
        }

        @Override
        public void giveBack(long bytes) {}

        @Override
        public boolean wantsBack(long ofStream) {
            return false;
        }
    };

    /** Whether nothing is ever lent. */
    boolean isEmpty();

    /**
     * Lends {@code more} bytes if that is fair and memory is not short.
     *
     * @param ofStream the bytes that the stream has borrowed
     */
    boolean borrow(long ofStream, long more);

    /** Takes back borrowed bytes. */
    void giveBack(long bytes);

    /**
     * Whether a stream should give back a part of its {@code ofStream} bytes, because others have borrowed
     * since, or because memory is short.
     */
    boolean wantsBack(long ofStream);
}
