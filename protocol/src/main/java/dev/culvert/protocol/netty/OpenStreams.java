package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionEvent.OfStream;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open streams of one session with their listeners. An exception of a listener resets only its own
 * stream. Confined to the session's event loop.
 */
final class OpenStreams {
    private static final Logger LOG = LoggerFactory.getLogger(OpenStreams.class);

    private final TunnelChannelHandler handler;
    private final SessionListener opener;
    private final IntObjectMap<TunnelStream> streams = new IntObjectHashMap<>();

    /** @param opener provides the listeners of streams that the peer opens */
    OpenStreams(TunnelChannelHandler handler, SessionListener opener) {
        this.handler = handler;
        this.opener = opener;
    }

    TunnelStream add(int id, @Nullable StreamListener told) {
        TunnelStream stream = new TunnelStream(handler, id);
        stream.listener = told;
        streams.put(id, stream);
        return stream;
    }

    void forget(int id) {
        streams.remove(id);
    }

    void tell(OfStream event) {
        TunnelStream stream = event instanceof SessionEvent.Opened
                ? add(event.streamId(), null)
                : streams.get(event.streamId());
        if (stream == null) {
            unwanted(event);
            return;
        }
        try {
            tell(stream, event);
        } catch (RuntimeException e) {
            failed(stream, e);
        }
    }

    /** Notifies all listeners that the session ends soon. A listener may end its stream. */
    void ending() {
        for (TunnelStream stream : List.copyOf(streams.values())) {
            StreamListener told = stream.listener;
            if (told != null) {
                ending(stream, told);
            }
        }
    }

    private static void ending(TunnelStream stream, StreamListener told) {
        try {
            told.ending();
        } catch (RuntimeException e) {
            failed(stream, e);
        }
    }

    private static void failed(TunnelStream stream, RuntimeException e) {
        LOG.atError()
                .setCause(e)
                .addKeyValue("stream", stream.id())
                .log("stream reset, its handling failed");
        stream.reset(ErrorCode.INTERNAL, 0, 0, "");
    }

    private void tell(TunnelStream stream, OfStream event) {
        StreamListener told = stream.listener;
        switch (event) {
            case SessionEvent.Opened e -> stream.listener = opener.opened(stream, e);
            case SessionEvent.StreamClosed e -> forget(e.streamId());
            case SessionEvent.StreamReset e -> {
                forget(e.streamId());
                if (told != null) {
                    told.reset(e);
                }
            }
            default -> {
                if (told == null) {
                    unwanted(event);
                } else {
                    tell(told, event);
                }
            }
        }
    }

    private static void tell(StreamListener told, OfStream event) {
        switch (event) {
            case SessionEvent.ResponseHead e ->
                told.head(e.head(), e.options(), e.informational(), e.ended());
            case SessionEvent.Data e -> told.data(e.body(), e.last());
            case SessionEvent.Trailers e -> told.trailers(e.trailers());
            case SessionEvent.Sent e -> told.sent(e.bytes());
            default -> throw new IllegalArgumentException("not for a listener: " + event);
        }
    }

    /**
     * Handles an event for a stream that was dropped while the event waited: only its bytes are counted and
     * released.
     */
    private void unwanted(OfStream event) {
        if (event instanceof SessionEvent.Data data) {
            handler.session().consumed(data.streamId(), data.body().readableBytes());
            data.body().release();
        }
    }
}
