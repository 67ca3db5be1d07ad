package dev.culvert.relay.inbound.http2;

import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.TimeUnit;

/** Ends a caller's stream after the last frame of its response. */
final class Http2StreamEnd {
    /**
     * The time for which the rest of a request may arrive after the edge itself responded. Errors in it are
     * still reported then. It costs at most the stream's window, because no credit is granted for it.
     */
    private static final long PATIENCE_MILLIS = 1000;

    private final Http2EdgeConnection connection;
    private final Http2Stream stream;

    Http2StreamEnd(Http2EdgeConnection connection, Http2Stream stream) {
        this.connection = connection;
        this.stream = stream;
    }

    /** Resets the stream of a malformed request. */
    void malformed(ChannelFuture last) {
        last.addListener(written -> connection.reset(stream, Http2Error.PROTOCOL_ERROR));
    }

    /** The runtime responded: the rest of the request is not needed. */
    void answered(ChannelFuture last) {
        last.addListener(written -> stop());
    }

    /** The edge responded in place of the runtime. */
    void refused(ChannelFuture last) {
        last.addListener(written -> {
            if (stream.state().remoteSideOpen()) {
                connection.loop().schedule(this::stop, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
    }

    /** Asks the caller to stop sending: a reset with NO_ERROR after the response (RFC 9113 §8.1). */
    private void stop() {
        if (stream.state().remoteSideOpen()) {
            connection.reset(stream, Http2Error.NO_ERROR);
        }
    }
}
