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

    /**
     * The router's limit of response heads, 128 KiB and 256 fields, plus 32 KiB (32 bytes a field count, too)
     * and 64 fields that forwarding may add. The edge's limit of request heads is half of that.
     */
    private static final Limits ACCEPTS = new Limits(1000, 160 << 10, 320, 4096, 256 << 10, 16 << 20);

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
