package dev.culvert.protocol.netty;

import java.util.concurrent.atomic.LongAdder;

/** The totals of all sessions of one process. Shared by the sessions; safe for use by any thread. */
public final class SessionMeter {
    final LongAdder received = new LongAdder();
    final LongAdder sent = new LongAdder();
    final LongAdder buffered = new LongAdder();
    final LongAdder streams = new LongAdder();
    final LongAdder refusedMemory = new LongAdder();

    /** Bytes of batches received since the start. */
    public long receivedBytes() {
        return received.sum();
    }

    /** Bytes of batches sent since the start. */
    public long sentBytes() {
        return sent.sum();
    }

    /** Bytes queued to send, plus bytes received that no reader has consumed, now. */
    public long bufferedBytes() {
        return buffered.sum();
    }

    /** Sessions since the start that ended because direct memory could not be allocated for them. */
    public long refusedMemory() {
        return refusedMemory.sum();
    }

    /** Streams open now. */
    public long streams() {
        return streams.sum();
    }
}
