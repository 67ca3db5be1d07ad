package dev.culvert.protocol.netty;

import dev.culvert.protocol.session.Session;

/** What one session shows of itself as of its last pass, added up in a {@link SessionMeter}. Written on its event loop alone. */
final class SessionFigures {
    private final SessionMeter meter;
    private long buffered;
    private boolean refusedMemory;
    private volatile int streams;
    private volatile long rttNanos = -1;

    SessionFigures(SessionMeter meter) {
        this.meter = meter;
    }

    /** Open streams. Any thread. */
    int streams() {
        return streams;
    }

    /** The last round-trip time in nanoseconds, or -1 before the first. Any thread. */
    long rttNanos() {
        return rttNanos;
    }

    /** The session ends for want of memory; counted once, though its last words may want some, too. */
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
