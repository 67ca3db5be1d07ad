package dev.culvert.edge.caller;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.time.Duration;
import java.util.function.LongSupplier;

/** Counts the frames of a connection that cost an answer and bring nothing: a flood of them ends it (CVE-2019-9512, 9515). */
final class Http2ControlFrames {
    /** SETTINGS, PING and PRIORITY frames of one caller within {@link #WINDOW}. */
    static final int MAX_FRAMES = 1000;
    static final Duration WINDOW = Duration.ofSeconds(10);

    private final LongSupplier nanoTime;
    private int frames;
    private long since;

    /** @param nanoTime as {@link System#nanoTime} */
    Http2ControlFrames(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** One more. Throws the connection's error, ENHANCE_YOUR_CALM, when they are too many. */
    void count() throws Http2Exception {
        long now = nanoTime.getAsLong();
        if (frames == 0 || now - since > WINDOW.toNanos()) {
            since = now;
            frames = 0;
        }
        if (++frames > MAX_FRAMES) {
            throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, "too many control frames");
        }
    }
}
