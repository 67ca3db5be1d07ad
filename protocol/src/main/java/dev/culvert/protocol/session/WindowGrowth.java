package dev.culvert.protocol.session;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Grows the receive windows of streams that their window slows down (docs/protocol.md §6). When half a window
 * was consumed, a PING measures a round trip and what each stream receives in it. A stream needs a window of
 * its delivery rate times the round trip of the idle link. If that is a third of its window or more, it gets
 * twice the window, up to {@link #MAX_WINDOW}. (A stream that only its window slows down receives half of it
 * in the measurement: the other half was consumed before.) The idle link's round trip is the shortest one
 * measured lately: others include the time for which bytes queue, on the link or for a busy processor, which
 * a larger window would only make longer. No clock is read and nothing is sent for streams shorter than half
 * a window.
 *
 * <p>What a window has in excess of its first size is borrowed from its {@link WindowAccount}, given
 * back when the stream ends, and withheld from its next grants when the account wants it back.
 */
final class WindowGrowth {
    /** docs/protocol.md §6. */
    static final int MAX_WINDOW = 16 << 20;

    /** The shortest round trip counts for one to two of these: a connection may change its route. */
    private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();
    /** Over a shorter way, a window of the first size carries more than a processor can handle. */
    private static final long SHORT_WAY_NANOS = Duration.ofMillis(1).toNanos();

    private WindowAccount account;
    private final LongSupplier clock;
    /** The streams that have received a third of their window in the present measurement. */
    private final List<StreamState> fast = new ArrayList<>(0);
    /** The number of the present measurement; streams that took part in another one start at 0. */
    private int round;
    private boolean measuring;
    private long beganNanos;
    private long periodNanos;
    /** The shortest round trips of this period and the one before. */
    private long shortest = Long.MAX_VALUE;
    private long shortestBefore = Long.MAX_VALUE;

    /** @param clock nanoseconds from any origin */
    WindowGrowth(WindowAccount account, LongSupplier clock) {
        this.account = account;
        this.clock = clock;
        this.periodNanos = clock.getAsLong();
    }

    /** Names the account that pays for this session. No stream is open yet. */
    void account(WindowAccount owner) {
        account = owner;
    }

    /** Whether to send a PING, because a stream has consumed half of its window and none is on its way. */
    boolean begins(StreamState stream) {
        if (measuring || account.isEmpty() || stream.receiveWindowSize > MAX_WINDOW / 2) {
            return false;
        }
        measuring = true;
        beganNanos = clock.getAsLong();
        round++;
        return true;
    }

    /** The payload of the PING: like a heartbeat's, the time at which it was sent. */
    long opaque() {
        return beganNanos;
    }

    /** The ACK of a heartbeat's PING has come. */
    void measured(long roundTripNanos, long nowNanos) {
        if (nowNanos - periodNanos > PERIOD_NANOS) {
            periodNanos = nowNanos;
            shortestBefore = shortest;
            shortest = Long.MAX_VALUE;
        }
        shortest = Math.min(shortest, roundTripNanos);
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

    /** The ACK of the PING has come. Returns the streams whose windows have grown: a grant is due. */
    List<StreamState> ends(long nowNanos) {
        if (!measuring) {
            return List.of();
        }
        measuring = false;
        long took = Math.max(1, nowNanos - beganNanos);
        measured(took, nowNanos);
        double idle = (double) Math.min(shortest, shortestBefore) / took;
        List<StreamState> grown = fast.stream()
                .filter(stream -> isSlowedDown(stream, idle))
                .filter(this::grows)
                .toList();
        fast.clear();
        return grown;
    }

    /**
     * A stream of which a third of the window or more waits for its reader is slowed down by that reader.
     *
     * @param idle the part of the measured time that a round trip takes on the idle link
     */
    private boolean isSlowedDown(StreamState stream, double idle) {
        int third = stream.receiveWindowSize / 3;
        return Math.min(shortest, shortestBefore) >= SHORT_WAY_NANOS
                && stream.roundBytes * idle >= third && stream.unconsumed < third;
    }

    /** The PING or its ACK was lost to a later one. */
    void forget() {
        measuring = false;
        fast.clear();
    }

    private boolean grows(StreamState stream) {
        int more = Math.min(stream.receiveWindowSize, MAX_WINDOW - stream.receiveWindowSize);
        if (stream.remoteEnded || more <= 0 || !account.borrow(stream.borrowed, more)) {
            return false;
        }
        stream.borrowed += more;
        stream.receiveWindowSize += more;
        stream.grantDue += more;
        return true;
    }

    /** Withholds a part of the stream's due grant, if the account wants it back. */
    void shrink(StreamState stream) {
        if (account.wantsBack(stream.borrowed)) {
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
        account.giveBack(bytes);
    }
}
