package dev.culvert.protocol.netty;

import dev.culvert.protocol.session.Session;

/**
 * The figures of one session as of its last pass, summed up in a {@link SessionMeter}. Written only on its
 * event loop.
 */
final class SessionFigures {
    private final SessionMeter meter;
    private long buffered;
    private boolean refusedMemory;
    private volatile int streams;
    private volatile long rttNanos = -1;

    SessionFigures(SessionMeter meter) {
        this.meter = meter;
    }

    /** The number of open streams. Callable from any thread. */
    int streams() {
        return streams;
    }

    /** The last round-trip time in nanoseconds, or -1 before the first. Callable from any thread. */
    long rttNanos() {
        return rttNanos;
    }

    /**
     * Records that the session ends because direct memory is exhausted. Counted once, even if the closing
     * frames need memory too.
     */
    void refusedMemory() {
        if (!refusedMemory) {
            refusedMemory = true;
            meter.refusedMemory.increment();
        }
    }

    void show(Session session) {
        long bytes = session.bufferedBytes();
        int open = session.streamCount();
        if (bytes != buffered) {
            meter.buffered.add(bytes - buffered);
            buffered = bytes;
        }
        if (rttNanos != session.rttNanos()) {
            rttNanos = session.rttNanos();
        }
        if (open != streams) {
            meter.streams.add(open - streams);
            streams = open;
        }
    }
}
