package dev.culvert.protocol.fields;

import io.netty.buffer.ByteBuf;

/**
 * Counts the dynamic table size updates at the start of an HPACK block. Two are enough for any encoder (RFC
 * 7541 §4.2), each makes the decoder reallocate its table, and Netty's decoder accepts any number. Reads a
 * block in parts of any size.
 */
public final class TableSizeUpdates {
    /** The maximum number of updates in one block. */
    public static final int MAX = 2;

    /** RFC 7541 §6.3: the pattern 001, and the size in a prefix of 5 bits. */
    private static final int PATTERN_MASK = 0xe0;
    private static final int PATTERN = 0x20;
    private static final int PREFIX = 0x1f;
    private static final int MORE = 0x80;

    private int count;
    private boolean inSize;
    private boolean over;

    /** Begins a block. */
    public void begin() {
        count = 0;
        inSize = false;
        over = false;
    }

    /** Whether no more updates may follow in this block. */
    public boolean isOver() {
        return over;
    }

    /**
     * Reads the next bytes of the block, at absolute indexes. Borrows {@code bytes}. Returns false if there
     * are too many updates.
     */
    public boolean read(ByteBuf bytes, int from, int to) {
        for (int at = from; at < to && !over; at++) {
            int next = bytes.getByte(at);
            if (inSize) {
                inSize = (next & MORE) != 0;
            } else if ((next & PATTERN_MASK) != PATTERN) {
                over = true;
            } else if (++count > MAX) {
                return false;
            } else {
                inSize = (next & PREFIX) == PREFIX;
            }
        }
        return true;
    }

    /** Whether a whole block has at most {@link #MAX} updates. Borrows {@code block}. */
    public static boolean areFew(ByteBuf block) {
        return new TableSizeUpdates().read(block, block.readerIndex(), block.writerIndex());
    }
}
