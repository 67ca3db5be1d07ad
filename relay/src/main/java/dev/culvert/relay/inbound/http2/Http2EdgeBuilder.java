package dev.culvert.relay.inbound.http2;

import dev.culvert.relay.StrictWindows;
import dev.culvert.relay.exchange.EdgeContext;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Settings;

/** Builds HTTP/2 connections of callers, with their limits. */
public final class Http2EdgeBuilder
        extends
            AbstractHttp2ConnectionHandlerBuilder<Http2EdgeConnection, Http2EdgeBuilder> {
    /** The maximum concurrent streams of one connection; more wait at the caller. */
    public static final int MAX_STREAMS = 100;
    /** The maximum request bytes of one stream that no runtime has consumed yet. */
    public static final int STREAM_WINDOW = 256 << 10;
    /**
     * The maximum number of queued control frames in response to a caller that does not read (CVE-2019-9512
     * and following).
     */
    static final int MAX_QUEUED_CONTROL_FRAMES = 1000;
    /**
     * The maximum number of streams that a caller resets, or makes the edge reset, within
     * {@link #RESETS_SECONDS} (CVE-2023-44487, CVE-2025-8671).
     */
    public static final int MAX_RESETS = 200;
    static final int RESETS_SECONDS = 30;
    /** The maximum number of consecutive DATA frames that are empty and end no stream (CVE-2019-9518). */
    public static final int MAX_EMPTY_DATA_FRAMES = 2;
    /** The minimum average bytes of a DATA frame. A gRPC message alone has five bytes before its content. */
    public static final int FAIR_DATA = 8;
    /**
     * The maximum shortfall against that minimum, in bytes, over all bodies of a connection that wait for
     * their upstreams.
     */
    public static final int MAX_SHORTFALL = 128 << 10;
    /**
     * The maximum number of CONTINUATION frames of a head that are smaller than necessary (CVE-2024-27316).
     */
    public static final int MAX_SMALL_CONTINUATIONS = 16;

    private final EdgeContext shared;

    Http2EdgeBuilder(EdgeContext shared) {
        this.shared = shared;
        Http2Connection connection = new DefaultHttp2Connection(true);
        StrictWindows.control(connection);
        // Applies from the first frame on, because a caller may never acknowledge the SETTINGS.
        connection.remote().maxActiveStreams(MAX_STREAMS);
        connection(connection);
        initialSettings(new Http2Settings().maxConcurrentStreams(MAX_STREAMS)
                .initialWindowSize(STREAM_WINDOW)
                .maxHeaderListSize(shared.limits().maxHeadBytes().bytes())
                .connectProtocolEnabled(true));
        validateHeaders(true);
        decoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_SECONDS);
        encoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_SECONDS);
        encoderEnforceMaxQueuedControlFrames(MAX_QUEUED_CONTROL_FRAMES);
        decoderEnforceMaxConsecutiveEmptyDataFrames(MAX_EMPTY_DATA_FRAMES);
        decoderEnforceMaxSmallContinuationFrames(MAX_SMALL_CONTINUATIONS);
        gracefulShutdownTimeoutMillis(EdgeContext.DRAIN_IDLE.toMillis());
    }

    @Override
    protected Http2EdgeConnection build() {
        return super.build();
    }

    @Override
    protected Http2EdgeConnection build(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
            Http2Settings settings) {
        return new Http2EdgeConnection(shared, decoder, encoder, settings);
    }
}
