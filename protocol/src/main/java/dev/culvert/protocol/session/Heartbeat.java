package dev.culvert.protocol.session;

/**
 * Decides when to send a ping and when the connection is dead (docs/protocol.md §9).
 *
 * <pre>
 *  QUIET ──interval──► WAITING ──anything received──► QUIET
 *                         └──time-out──► dead
 * </pre>
 */
final class Heartbeat {
    private final long intervalNanos;
    private final long timeoutNanos;
    private long nextPingNanos;
    private long pingedNanos;
    /** Whether no frame has been received since the last ping. */
    private boolean waiting;
    /** Whether the ACK of the last ping has not been received. */
    private boolean unanswered;
    private long rttNanos = -1;

    Heartbeat(SessionLimits limits, long nowNanos) {
        intervalNanos = limits.heartbeatInterval().toNanos();
        timeoutNanos = limits.heartbeatTimeout().toNanos();
        nextPingNanos = nowNanos + intervalNanos;
    }

    void received() {
        waiting = false;
    }

    /** Whether a ping is due now; the caller sends it with {@code nowNanos} as its opaque value. */
    boolean ping(long nowNanos) {
        if (nowNanos - nextPingNanos < 0) {
            return false;
        }
        nextPingNanos = nowNanos + intervalNanos;
        pingedNanos = nowNanos;
        waiting = true;
        unanswered = true;
        return true;
    }

    boolean isDead(long nowNanos) {
        return waiting && nowNanos - pingedNanos - timeoutNanos >= 0;
    }

    /** Handles the ACK of a PING. Returns whether it is the last heartbeat's. */
    boolean answered(long opaque, long nowNanos) {
        if (!unanswered || opaque != pingedNanos) {
            return false;
        }
        unanswered = false;
        rttNanos = nowNanos - pingedNanos;
        return true;
    }

    /** The last round-trip time, or -1 before the first. */
    long rttNanos() {
        return rttNanos;
    }

    long nextDeadlineNanos() {
        return waiting ? Math.min(pingedNanos + timeoutNanos, nextPingNanos) : nextPingNanos;
    }
}
