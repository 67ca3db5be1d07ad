package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.Hello.Limits;
import java.time.Duration;

/**
 * The bounds and times of a session (docs/protocol.md §9, §12).
 *
 * @param accepts the limits that are announced to the peer and enforced
 * @param queuedBytesPerStream the maximum DATA of a stream that waits for window or socket; a relay stays far
 *     below it
 * @param informationalHeads the maximum number of informational heads that wait before a stream's final head
 * @param openingTimeout the time from the WebSocket handshake to READY
 * @param heartbeatInterval the time between pings; at most half the idle time-out of common proxies (60 s)
 * @param heartbeatTimeout the time without received bytes after a ping until the session ends
 */
public record SessionLimits(Limits accepts, int queuedBytesPerStream, int informationalHeads,
        Duration openingTimeout,
        Duration heartbeatInterval, Duration heartbeatTimeout) {

    /** The edge's head limit of 64 KiB and 100 fields, plus 8 KiB and 32 fields that forwarding may add. */
    private static final Limits ACCEPTS = new Limits(1000, 72 << 10, 132, 4096, 256 << 10, 16 << 20);

    public SessionLimits {
        require(queuedBytesPerStream > 0, "queuedBytesPerStream", queuedBytesPerStream, "at least 1");
        require(informationalHeads >= 0, "informationalHeads", informationalHeads, "at least 0");
        require(openingTimeout.isPositive(), "openingTimeout", openingTimeout, "more than 0");
        require(heartbeatInterval.isPositive(), "heartbeatInterval", heartbeatInterval, "more than 0");
        require(heartbeatTimeout.isPositive(), "heartbeatTimeout", heartbeatTimeout, "more than 0");
    }

    /** The values of docs/protocol.md §12. */
    public static SessionLimits defaults() {
        return new SessionLimits(ACCEPTS, 1 << 20, 8, Duration.ofSeconds(10), Duration.ofSeconds(9),
                Duration.ofSeconds(5));
    }

    /** These limits with other limits for the peer. */
    public SessionLimits accepting(Limits limits) {
        return new SessionLimits(limits, queuedBytesPerStream, informationalHeads, openingTimeout,
                heartbeatInterval,
                heartbeatTimeout);
    }

    /** These limits with another opening time-out. */
    public SessionLimits opening(Duration timeout) {
        return new SessionLimits(accepts, queuedBytesPerStream, informationalHeads, timeout,
                heartbeatInterval,
                heartbeatTimeout);
    }

    private static void require(boolean condition, String name, Object value, String expected) {
        if (!condition) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + expected + ")");
        }
    }
}
