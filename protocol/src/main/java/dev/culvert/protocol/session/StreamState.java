package dev.culvert.protocol.session;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The state of one stream. docs/protocol.md §5 has the state diagram: {@code localEnded} and {@code
 * remoteEnded} are its two halves.
 */
final class StreamState {
    /** The maximum number of informational heads of one stream. */
    static final int MAX_INFORMATIONAL = 100;

    final int id;
    /** The bytes that this side may still send. */
    int sendWindow;
    /** The bytes that the peer may still send. */
    int receiveWindow;
    /** The receive window when all received bytes are consumed and granted. */
    int receiveWindowSize;
    /** The bytes of {@link #receiveWindowSize} that are borrowed from the process's pool. */
    int borrowed;
    /** The last measurement of {@link WindowGrowth} that this stream took part in, and its bytes. */
    int round;
    long roundBytes;
    /** The received bytes that the reader has not consumed. */
    int unconsumed;
    /** The consumed bytes that were not granted yet. */
    int grantDue;
    boolean grantQueued;

    /** The number of informational heads so far, on either side, and their decoded bytes. */
    private int informational;
    private long informationalBytes;
    /** Whether the final response head was received (server) or queued (client). */
    boolean answered;
    boolean remoteEnded;
    /** Whether END is queued. No further commands are accepted. */
    boolean endQueued;
    /** The reset that follows the queued DATA, or null. */
    Frame.@Nullable Reset breakOff;
    /** Whether a reset is sent instead of an END after the queued frames. */
    boolean endless;
    /** Whether END was sent. */
    boolean localEnded;
    /** Whether the opening HEAD was sent. */
    boolean onWire;

    final ArrayDeque<OutgoingHead> heads = new ArrayDeque<>(1);
    final BodyQueue data = new BodyQueue();
    @Nullable
    Http2Headers trailers;
    int queuedBytes;
    /** The remaining bytes of this stream's turn (deficit round robin). */
    int deficit;
    /** Whether the stream is in the ring of streams that may send DATA. */
    boolean inRing;

    /** A head that waits to be sent. */
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
     * Counts an informational head. Returns false if there are too many, or if their total size is too large
     * (docs/protocol.md §12).
     *
     * @param mostBytes the maximum size of a head in bytes
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

    /** Whether the stream is complete, so that its state can be removed. */
    boolean isClosed() {
        return isEnded() && unconsumed == 0;
    }

    /** Whether a DATA frame of this stream could be sent if the session's window allows. */
    boolean maySendData() {
        return queuedBytes > 0
                ? sendWindow > 0
                : ends() && !localEnded && trailers == null && heads.isEmpty();
    }

    /** Whether END follows the queued DATA. */
    boolean ends() {
        return endQueued && !endless;
    }

    /** Whether the reset that follows the queued DATA is due. */
    boolean mayBreakOff() {
        return queuedBytes == 0 && (endless || localEnded);
    }

    /** Whether trailers are due. They never overtake the stream's DATA. */
    boolean maySendTrailers() {
        return trailers != null && queuedBytes == 0 && !localEnded;
    }

    /** Releases the queued buffers. Returns the number of dropped DATA bytes. */
    int dropQueue() {
        int dropped = queuedBytes;
        data.clear();
        queuedBytes = 0;
        heads.clear();
        trailers = null;
        return dropped;
    }
}
