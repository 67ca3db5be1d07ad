package dev.culvert.protocol.session;

import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** One direction of a fake link: batches arrive in order, after the time that they take on the wire and the latency. */
final class Link {
    private static final long NANOS_PER_SECOND = Duration.ofSeconds(1).toNanos();

    private final ArrayDeque<Transit> inTransit = new ArrayDeque<>();
    private long latencyNanos;
    private long bytesPerSecond;
    private long freeAtNanos = Long.MIN_VALUE;
    private boolean lost;
    private boolean blocked;
    private long batches;
    private long bytes;

    /** A batch on its way; the link owns it. */
    private record Transit(long arrivesNanos, ByteBuf batch) {}

    /** Sets the latency. */
    Link latency(Duration latency) {
        latencyNanos = latency.toNanos();
        return this;
    }

    /** Sets the bandwidth; 0 is unlimited. */
    Link bandwidth(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
        return this;
    }

    /** From now on everything vanishes without a word, as on a half-open link. */
    void lose() {
        lost = true;
        release();
    }

    /** While blocked the socket takes nothing. */
    void block(boolean blocked) {
        this.blocked = blocked;
    }

    /** Whether the socket has taken all that was written. */
    boolean isWritable(long nowNanos) {
        return !blocked && freeAtNanos <= nowNanos;
    }

    /** Takes ownership of {@code batch}. */
    void send(ByteBuf batch, long nowNanos) {
        batches++;
        bytes += batch.readableBytes();
        long wireNanos = bytesPerSecond == 0 ? 0 : batch.readableBytes() * NANOS_PER_SECOND / bytesPerSecond;
        freeAtNanos = Math.max(nowNanos, freeAtNanos) + wireNanos;
        if (lost) {
            batch.release();
        } else {
            inTransit.add(new Transit(freeAtNanos + latencyNanos, batch));
        }
    }

    /** Returns a batch that has arrived, which the caller owns, or null. */
    @Nullable
    ByteBuf receive(long nowNanos) {
        Transit next = inTransit.peek();
        return next == null || next.arrivesNanos > nowNanos ? null : inTransit.remove().batch;
    }

    /** When a batch arrives or, for a side that has more to send, the socket takes more. */
    long nextNanos(long nowNanos, boolean moreToSend) {
        Transit next = inTransit.peek();
        long arrival = next == null ? Long.MAX_VALUE : next.arrivesNanos;
        return moreToSend && freeAtNanos > nowNanos ? Math.min(arrival, freeAtNanos) : arrival;
    }

    long batches() {
        return batches;
    }

    long bytes() {
        return bytes;
    }

    void release() {
        inTransit.forEach(transit -> transit.batch.release());
        inTransit.clear();
    }
}
