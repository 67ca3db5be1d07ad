package dev.culvert.relay.inbound.http2;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The streams of a connection that closed last: what a frame on one of them means depends on how it closed (RFC 9113 §5.1). */
final class Http2ClosedStreams {
    /** More than may be open at once: what was under way on those is surely here by then. */
    static final int MAX_REMEMBERED = 4 * Http2EdgeBuilder.MAX_STREAMS;

    private final LinkedHashMap<Integer, Boolean> resetByUs = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    /** This one closed. */
    void add(Http2Stream stream) {
        resetByUs.put(stream.id(), stream.isResetSent());
    }

    /** This one was refused, and never open. */
    void refused(int stream) {
        resetByUs.put(stream, true);
    }

    /**
     * What a frame on a stream that is not open any more is.
     *
     * @return null where its sender may not have known: the stream was reset; else the connection's error
     */
    @Nullable
    Http2Exception judge(int stream) {
        Boolean reset = resetByUs.get(stream);
        if (reset == null) {
            // RFC 9113 §5.1.1: ids grow; one that was passed over is closed without ever having been open
            return Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "stream %d is not open", stream);
        }
        return reset
                ? null
                : Http2Exception.connectionError(Http2Error.STREAM_CLOSED, "stream %d is closed", stream);
    }
}
