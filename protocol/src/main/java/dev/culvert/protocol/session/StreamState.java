package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One stream's state. The state diagram is that of docs/protocol.md §5: {@code localEnded} and {@code remoteEnded} are its
 * two halves.
 */
final class StreamState {
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

    /** The final response head has passed (server: received, client: queued). */
    boolean answered;
    boolean remoteEnded;
    /** END is queued: no more commands. */
    boolean endQueued;
    /** END was put on the wire. */
    boolean localEnded;
    /** The opening HEAD was put on the wire. */
    boolean onWire;

    final ArrayDeque<OutgoingHead> heads = new ArrayDeque<>(1);
    final ArrayDeque<ByteBuf> data = new ArrayDeque<>(2);
    @Nullable
    Http2Headers trailers;
    int queuedBytes;
    /** What is left of this stream's turn, in bytes (deficit round robin). */
    int deficit;
    /** In the ring of streams that may send DATA. */
    boolean inRing;

    /** A head that waits for the wire. */
    record OutgoingHead(Http2Headers fields, int flags, HeadOptions options, StreamKind kind) {}

    StreamState(int id, int sendWindow, int receiveWindow) {
        this.id = id;
        this.sendWindow = sendWindow;
        this.receiveWindow = receiveWindow;
        this.receiveWindowSize = receiveWindow;
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
                : endQueued && !localEnded && trailers == null && heads.isEmpty();
    }

    /** Whether trailers are due: they never overtake the stream's own DATA. */
    boolean maySendTrailers() {
        return trailers != null && queuedBytes == 0 && !localEnded;
    }

    /** Releases what waits to be sent. Returns the bytes of DATA dropped. */
    int dropQueue() {
        int dropped = queuedBytes;
        for (ByteBuf body = data.poll(); body != null; body = data.poll()) {
            body.release();
        }
        queuedBytes = 0;
        heads.clear();
        trailers = null;
        return dropped;
    }
}
