package dev.culvert.relay.inbound.http2;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.time.Duration;

/** Counts frames of a connection that cost work and carry no data. A flood of them ends the connection. */
public final class Http2FrameBudget {
    /**
     * The maximum number of SETTINGS, PING and PRIORITY frames of one caller within {@link #CONTROL_WINDOW}
     * (CVE-2019-9512, 9515).
     */
    public static final int MAX_CONTROL_FRAMES = 1000;
    private static final Duration CONTROL_WINDOW = Duration.ofSeconds(10);
    /**
     * The frames that each written part of a body allows, for the windows of its stream and of the
     * connection, and one more for every {@link #UPDATE_BYTES} of it.
     */
    private static final int UPDATES_OF_A_PART = 2;
    private static final int UPDATE_BYTES = 2 << 10;
    /** The maximum number of frames that traffic has allowed and that did not come yet. */
    private static final int MAX_ALLOWED = 100_000;

    private final int most;
    private final long windowNanos;
    private final String flood;
    private int frames;
    private long since;
    private int allowed;

    private Http2FrameBudget(int most, Duration window, String flood) {
        this.most = most;
        this.windowNanos = window.toNanos();
        this.flood = flood;
    }

    /** Creates the budget of frames to which the connection must respond. */
    static Http2FrameBudget ofControlFrames() {
        return new Http2FrameBudget(MAX_CONTROL_FRAMES, CONTROL_WINDOW, "too many control frames");
    }

    /**
     * Creates the budget of frames that need no response: WINDOW_UPDATE, beyond those that written bodies
     * allow, and frames of unknown types (RFC 9113 §5.5 and §10.5).
     */
    static Http2FrameBudget ofSilentFrames() {
        return new Http2FrameBudget(MAX_CONTROL_FRAMES, CONTROL_WINDOW, "too many frames without work");
    }

    /**
     * Creates the budget of faults that make the edge reset a stream: of requests that have begun, whose work
     * is lost and whose place is free for the next stream (CVE-2025-8671), and of malformed heads, each of
     * which is answered (RUSTSEC-2024-0003). Netty counts only the resets that it sends itself.
     */
    static Http2FrameBudget ofFaults() {
        return new Http2FrameBudget(Http2EdgeBuilder.MAX_RESETS,
                Duration.ofSeconds(Http2EdgeBuilder.RESETS_SECONDS), "too many broken requests");
    }

    /** A part of a body was written: its receiver enlarges windows for it. */
    void written(int bytes) {
        allowed = Math.min(MAX_ALLOWED, allowed + UPDATES_OF_A_PART + bytes / UPDATE_BYTES);
    }

    /** A request began: its sender may say how urgent it is (RFC 9218 §7.1), and opens its windows. */
    void began() {
        written(0);
    }

    /**
     * Counts a frame that was not allowed. Throws the connection error ENHANCE_YOUR_CALM if there are too
     * many.
     */
    void count() throws Http2Exception {
        if (allowed > 0) {
            allowed--;
            return;
        }
        long now = System.nanoTime();
        if (frames == 0 || now - since > windowNanos) {
            since = now;
            frames = 0;
        }
        if (++frames > most) {
            throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, flood);
        }
    }
}
