package dev.culvert.relay.inbound.http2;

import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.TimeUnit;

/** What becomes of a caller's stream behind the last frame of its response. */
final class Http2StreamEnd {
    /**
     * How long the rest of a request may come that the edge itself has answered: what is wrong with it is still told then.
     * It costs the stream's window at most, for nothing of it is granted.
     */
    private static final long PATIENCE_MILLIS = 1000;

    private final Http2EdgeConnection connection;
    private final Http2Stream stream;

    Http2StreamEnd(Http2EdgeConnection connection, Http2Stream stream) {
        this.connection = connection;
        this.stream = stream;
    }

    /** The request was malformed. */
    void malformed(ChannelFuture last) {
        last.addListener(written -> connection.reset(stream, Http2Error.PROTOCOL_ERROR));
    }

    /** The runtime has answered: what is left of the request nobody wants. */
    void answered(ChannelFuture last) {
        last.addListener(written -> stop());
    }

    /** The edge has answered in its place. */
    void refused(ChannelFuture last) {
        last.addListener(written -> {
            if (stream.state().remoteSideOpen()) {
                connection.loop().schedule(this::stop, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
    }

    /** RFC 9113 §8.1: NO_ERROR behind the response asks the caller to stop sending. */
    private void stop() {
        if (stream.state().remoteSideOpen()) {
            connection.reset(stream, Http2Error.NO_ERROR);
        }
    }
}
