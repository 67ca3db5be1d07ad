package dev.culvert.relay.outbound;

import dev.culvert.relay.StrictWindows;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Settings;
import java.time.Duration;

/** Builds HTTP/2 connections to upstreams, with their limits. */
public final class Http2UpstreamBuilder
        extends
            AbstractHttp2ConnectionHandlerBuilder<Http2UpstreamConnection, Http2UpstreamBuilder> {
    /** The maximum number of concurrent exchanges on one connection. The upstream may allow fewer. */
    static final int MAX_STREAMS = 100;
    /** The maximum number of unconsumed response bytes of one stream. */
    public static final int STREAM_WINDOW = 128 << 10;
    /** The time for a GOAWAY to be written. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final Http2Pool pool;

    Http2UpstreamBuilder(Http2Pool pool) {
        this.pool = pool;
        Http2Connection connection = new DefaultHttp2Connection(false);
        StrictWindows.control(connection);
        connection(connection);
        initialSettings(new Http2Settings().pushEnabled(false)
                .initialWindowSize(STREAM_WINDOW)
                .maxHeaderListSize(pool.limits().headBytes()));
        validateHeaders(true);
        headerSensitivityDetector((name, value) -> Http2UpstreamRequest.isSecret(name));
        gracefulShutdownTimeoutMillis(LAST_WORDS.toMillis());
    }

    @Override
    protected Http2UpstreamConnection build() {
        return super.build();
    }

    @Override
    protected Http2UpstreamConnection build(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
            Http2Settings settings) {
        return new Http2UpstreamConnection(pool, decoder, encoder, settings);
    }
}
