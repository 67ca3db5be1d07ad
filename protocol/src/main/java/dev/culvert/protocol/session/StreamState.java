package dev.culvert.protocol.session;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One stream's state. The state diagram is that of docs/protocol.md §5: {@code localEnded} and {@code remoteEnded} are its
 * two halves.
 */
final class StreamState {
    /** Informational heads of one stream. */
    static final int MAX_INFORMATIONAL = 100;

    final int id;
    /** Bytes this side may still send. */
    int sendWindow;
    /** Bytes the peer may still send. */
    int receiveWindow;
    /** The receive window when everything is consumed. */
    final int receiveWindowSize;
    /** Bytes received that the reader has not consumed. */
    int unconsumed;
    /** Bytes consumed that were not granted yet. */
    int grantDue;
    boolean grantQueued;

    /** Informational heads so far, of either side's, and the bytes that they are when decoded. */
    private int informational;
    private long informationalBytes;
    /** The final response head has passed (server: received, client: queued). */
    boolean answered;
    boolean remoteEnded;
    /** END is queued: no more commands. */
    boolean endQueued;
    /** How the stream is reset behind its DATA, if it is. */
    Frame.@Nullable Reset breakOff;
    /** No END is sent, although nothing more is queued: a reset is. */
    boolean endless;
    /** END was put on the wire. */
    boolean localEnded;
    /** The opening HEAD was put on the wire. */
    boolean onWire;

    final ArrayDeque<OutgoingHead> heads = new ArrayDeque<>(1);
    final BodyQueue data = new BodyQueue();
    @Nullable
    Http2Headers trailers;
    int queuedBytes;
    /** What is left of this stream's turn, in bytes (deficit round robin). */
    int deficit;
    /** In the ring of streams that may send DATA. */
    boolean inRing;

    /** A head that waits for the wire. */
    record OutgoingHead(Http2Headers fields, int flags, HeadOptions options, StreamKind kind, long bytes) {
        OutgoingHead(Http2Headers fields, int flags, HeadOptions options, StreamKind kind) {
            this(fields, flags, options, kind, Heads.bytes(fields));
        }
    }

    StreamState(int id, int sendWindow, int receiveWindow) {
        this.id = id;
        this.sendWindow = sendWindow;
        this.receiveWindow = receiveWindow;
        this.receiveWindowSize = receiveWindow;
    }

    /**
     * Counts an informational head. False: there were too many of them, or they are too large together (docs/protocol.md
     * §12).
     *
     * @param mostBytes what a head may be
     */
    boolean takeInformational(Http2Headers head, int mostBytes) {
        informational++;
        informationalBytes += Heads.bytes(head);
        return informational <= MAX_INFORMATIONAL && informationalBytes <= mostBytes;
    }

    /** Whether both halves ended on the wire. */
    boolean isEnded() {
        return localEnded && remoteEnded;
    }

    /** Whether nothing is left to do. */
    boolean isClosed() {
        return isEnded() && unconsumed == 0;
    }

    /** Whether a DATA frame of this stream could be sent if the session's window allows. */
    boolean maySendData() {
        return queuedBytes > 0
                ? sendWindow > 0
                : ends() && !localEnded && trailers == null && heads.isEmpty();
    }

    /** Whether END follows the DATA that is queued. */
    boolean ends() {
        return endQueued && !endless;
    }

    /** Whether the reset that stands behind everything is due. */
    boolean mayBreakOff() {
        return queuedBytes == 0 && (endless || localEnded);
    }

    /** Whether trailers are due: they never overtake the stream's own DATA. */
    boolean maySendTrailers() {
        return trailers != null && queuedBytes == 0 && !localEnded;
    }

    /** Releases what waits to be sent. Returns the bytes of DATA dropped. */
    int dropQueue() {
        int dropped = queuedBytes;
        data.clear();
        queuedBytes = 0;
        heads.clear();
        trailers = null;
        return dropped;
    }
}
