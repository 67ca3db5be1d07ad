package dev.culvert.relay.inbound.http2;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the streams of a connection that closed last. The meaning of a frame on one of them depends on
 * how it closed (RFC 9113 §5.1).
 */
final class Http2ClosedStreams {
    /**
     * The maximum number of remembered streams. It exceeds the number of open streams, so all frames in
     * flight on older ones have arrived.
     */
    static final int MAX_REMEMBERED = 4 * Http2EdgeBuilder.MAX_STREAMS;

    private final LinkedHashMap<Integer, Boolean> resetByUs = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    /** Records a closed stream. */
    void add(Http2Stream stream) {
        resetByUs.put(stream.id(), stream.isResetSent());
    }

    /** Records a stream that was refused and never open. */
    void refused(int stream) {
        resetByUs.put(stream, true);
    }

    /**
     * Judges a frame on a stream that is not open any more.
     *
     * @return null if the sender may not have known, because the stream was reset; else the connection error
     */
    @Nullable
    Http2Exception judge(int stream) {
        Boolean reset = resetByUs.get(stream);
        if (reset == null) {
            // RFC 9113 §5.1.1: stream ids increase; a skipped one is closed without having been open
            return Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "stream %d is not open", stream);
        }
        return reset
                ? null
                : Http2Exception.connectionError(Http2Error.STREAM_CLOSED, "stream %d is closed", stream);
    }
}
