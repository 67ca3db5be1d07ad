package dev.culvert.protocol.session;

import java.util.ArrayList;
import java.util.List;

/**
 * Grows the receive windows of streams that their window slows down (docs/protocol.md §6). A peer can send at
 * most one window in a round trip. So when half a window was consumed, a PING measures one round trip: a
 * stream that receives a third of its window until the ACK comes gets twice the window, up to {@link
 * #MAX_WINDOW}. (A stream that only its window slows down receives half of it: the other half was consumed
 * before.) No clock is read and nothing is sent for streams shorter than half a window.
 *
 * <p>What a window has in excess of its first size is borrowed from the process's {@link WindowPool}, given
 * back when the stream ends, and withheld from its next grants when the pool wants it back.
 */
final class WindowGrowth {
    /** docs/protocol.md §6. */
    static final int MAX_WINDOW = 16 << 20;

    private static final long OPAQUE = 0x77696e_646f77_0000L << 16;

    private final WindowPool pool;
    /** The streams that have received a third of their window in the present round trip. */
    private final List<StreamState> fast = new ArrayList<>(0);
    private long borrowed;
    /** The number of the present measurement; streams that took part in another one start at 0. */
    private int round;
    private boolean measuring;

    WindowGrowth(WindowPool pool) {
        this.pool = pool;
    }

    /** Whether to send a PING, because a stream has consumed half of its window and none is on its way. */
    boolean begins(StreamState stream) {
        if (measuring || pool.isEmpty() || stream.receiveWindowSize > MAX_WINDOW / 2) {
            return false;
        }
        measuring = true;
        round++;
        return true;
    }

    /** The payload of the PING. A heartbeat's is the time in nanoseconds, which is unlikely to be the same. */
    long opaque() {
        return OPAQUE + round;
    }

    /** Counts bytes that a stream has received. */
    void received(StreamState stream, int bytes) {
        if (!measuring) {
            return;
        }
        if (stream.round != round) {
            stream.round = round;
            stream.roundBytes = 0;
        }
        long before = stream.roundBytes;
        stream.roundBytes += bytes;
        long wanted = stream.receiveWindowSize / 3;
        if (before < wanted && stream.roundBytes >= wanted) {
            fast.add(stream);
        }
    }

    /** The ACK of the PING has come. The windows that have grown are due for a grant. */
    List<StreamState> ends() {
        boolean asked = measuring;
        measuring = false;
        if (!asked || fast.isEmpty()) {
            return List.of();
        }
        List<StreamState> grown = fast.stream().filter(this::grows).toList();
        fast.clear();
        return grown;
    }

    /** The PING or its ACK was lost to a later one. */
    void forget() {
        measuring = false;
        fast.clear();
    }

    private boolean grows(StreamState stream) {
        int more = Math.min(stream.receiveWindowSize, MAX_WINDOW - stream.receiveWindowSize);
        if (stream.remoteEnded || more <= 0 || !pool.borrow(stream.borrowed, borrowed, more)) {
            return false;
        }
        borrowed += more;
        stream.borrowed += more;
        stream.receiveWindowSize += more;
        stream.grantDue += more;
        return true;
    }

    /** Withholds a part of the stream's due grant, if the pool wants it back. */
    void shrink(StreamState stream) {
        if (stream.borrowed > 0 && pool.wantsBack(stream.borrowed)) {
            int less = Math.min(stream.grantDue, stream.borrowed);
            stream.receiveWindowSize -= less;
            stream.grantDue -= less;
            giveBack(stream, less);
        }
    }

    /** The stream receives nothing more. */
    void end(StreamState stream) {
        giveBack(stream, stream.borrowed);
    }

    private void giveBack(StreamState stream, int bytes) {
        stream.borrowed -= bytes;
        borrowed -= bytes;
        pool.giveBack(bytes);
    }
}
