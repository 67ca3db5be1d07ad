package dev.culvert.relay.outbound;

import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import java.time.Duration;

/** Sets the limits of an HTTP/2 connection to an upstream. */
public final class Http2UpstreamBuilder
        extends
            AbstractHttp2ConnectionHandlerBuilder<Http2UpstreamConnection, Http2UpstreamBuilder> {
    /** Exchanges of one connection at once, if the upstream allows as many. */
    static final int MAX_STREAMS = 100;
    /** Response bytes of one stream that its asker has not consumed. */
    public static final int STREAM_WINDOW = 128 << 10;
    /** The edge's 64 KiB and 8 KiB more. */
    private static final int MAX_HEAD_BYTES = 72 << 10;
    /** For a GOAWAY to leave. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final Http2Pool pool;

    Http2UpstreamBuilder(Http2Pool pool) {
        this.pool = pool;
        Http2Connection connection = new DefaultHttp2Connection(false);
        // RFC 9113 §5.3: priorities are deprecated; streams share alike.
        connection.remote()
                .flowController(new DefaultHttp2RemoteFlowController(connection,
                        new UniformStreamByteDistributor(connection)));
        connection(connection);
        initialSettings(new Http2Settings().pushEnabled(false)
                .initialWindowSize(STREAM_WINDOW)
                .maxHeaderListSize(MAX_HEAD_BYTES));
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
