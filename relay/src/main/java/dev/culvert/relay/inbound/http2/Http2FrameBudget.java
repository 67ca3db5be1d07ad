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

    private final int most;
    private final long windowNanos;
    private final String flood;
    private int frames;
    private long since;

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
     * Creates the budget of faults that make the edge reset a stream: of requests that have begun, whose work
     * is lost and whose place is free for the next stream (CVE-2025-8671), and of malformed heads, each of
     * which is answered (RUSTSEC-2024-0003). Netty counts only the resets that it sends itself.
     */
    static Http2FrameBudget ofFaults() {
        return new Http2FrameBudget(Http2EdgeBuilder.MAX_RESETS,
                Duration.ofSeconds(Http2EdgeBuilder.RESETS_SECONDS), "too many broken requests");
    }

    /** Counts a frame. Throws the connection error ENHANCE_YOUR_CALM if there are too many. */
    void count() throws Http2Exception {
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
