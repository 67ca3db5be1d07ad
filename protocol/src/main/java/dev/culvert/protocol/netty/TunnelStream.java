package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a session, for the application. All methods are called on the session's event loop. Calls
 * after the end are ignored.
 */
public final class TunnelStream {
    private final TunnelChannelHandler handler;
    private final int id;
    @Nullable
    StreamListener listener;

    TunnelStream(TunnelChannelHandler handler, int id) {
        this.handler = handler;
        this.id = id;
    }

    public int id() {
        return id;
    }

    /** Client: sends an informational head, or the final one. */
    public void respond(Http2Headers head, boolean informational, boolean ended) {
        respond(head, HeadOptions.NONE, informational, ended);
    }

    /** Client: sends the final head with the time that the later hops have spent. */
    public void respond(Http2Headers head, HeadOptions.Times times, boolean ended) {
        respond(head, HeadOptions.times(times), false, ended);
    }

    private void respond(Http2Headers head, HeadOptions options, boolean informational, boolean ended) {
        handler.session().respond(id, head, options, informational, ended);
        handler.wake();
    }

    /** Sends body bytes. Takes ownership of {@code body}, also when it throws. */
    public void data(ByteBuf body) {
        handler.session().data(id, body);
        handler.wake();
    }

    /** Ends this side's half, with trailers if there are any. */
    public void end(@Nullable Http2Headers trailers) {
        handler.session().end(id, trailers);
        handler.wake();
    }

    /**
     * Ends the stream at once in both directions. The listener receives no further event. Cause and hop:
     * docs/protocol.md §10.
     */
    public void reset(ErrorCode code, int cause, int hop, String detail) {
        handler.forget(id);
        handler.session().reset(id, code, cause, hop, detail);
        handler.wake();
    }

    /**
     * Ends the stream in both directions after the queued DATA. The listener receives no further event. Cause
     * and hop: docs/protocol.md §10.
     */
    public void breakOff(ErrorCode code, int cause, int hop, String detail) {
        handler.forget(id);
        handler.session().breakOff(id, code, cause, hop, detail);
        handler.wake();
    }

    /** Reports that {@code bytes} given to the listener were passed on. The peer may send that many more. */
    public void consumed(int bytes) {
        handler.session().consumed(id, bytes);
        handler.wake();
    }
}
