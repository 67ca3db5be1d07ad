package dev.culvert.protocol.netty;

import java.util.concurrent.atomic.LongAdder;

/** What the sessions of one process add up to. Shared by all of them, on any thread. */
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

    /** Sessions that ended because direct memory could not be had for them, since the start. */
    public long refusedMemory() {
        return refusedMemory.sum();
    }

    /** Streams open now. */
    public long streams() {
        return streams.sum();
    }
}
