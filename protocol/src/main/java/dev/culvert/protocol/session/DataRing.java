package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The streams that have DATA and an open window, scheduled by deficit round robin (docs/protocol.md §7). A
 * stream enters at the tail and leaves when it has nothing to send, so stalled streams delay no other stream.
 */
final class DataRing {
    /** A stream's quantum for one round, in bytes of frames. */
    private static final int QUANTUM = 16 << 10;
    /**
     * The minimum free bytes for a DATA frame, unless it holds the stream's last bytes. A smaller frame would
     * mainly be header.
     */
    private static final int MIN_ROOM = 1 << 10;
    /** The maximum bytes of a body that is sent at once with its head. */
    private static final int SHORT_BODY = 1 << 10;

    private final ArrayDeque<StreamState> ring = new ArrayDeque<>();
    /** The DATA bytes that the session may still send. */
    private long sessionWindow;
    /** The DATA bytes queued on all streams, in the ring or not. */
    private long queuedBytes;

    /** Adds to the session's window, which starts at 0. Returns false if the window would exceed 2^31−1. */
    boolean grant(int bytes) {
        sessionWindow += bytes;
        return sessionWindow <= Integer.MAX_VALUE;
    }

    /** Queues a part of a body. Takes ownership of {@code body}. */
    void queue(StreamState stream, ByteBuf body) {
        int bytes = body.readableBytes();
        stream.data.add(body);
        stream.queuedBytes += bytes;
        queuedBytes += bytes;
    }

    /** Adds the stream to the ring if it can send. */
    void enter(StreamState stream) {
        if (!stream.inRing && stream.maySendData()) {
            stream.inRing = true;
            ring.add(stream);
        }
    }

    /** Removes the stream and its queued DATA. */
    void drop(StreamState stream) {
        if (stream.inRing) {
            ring.remove(stream);
            stream.inRing = false;
        }
        queuedBytes -= stream.dropQueue();
    }

    long queuedBytes() {
        return queuedBytes;
    }

    int size() {
        return ring.size();
    }

    /** Whether {@link #poll} would write a frame into an empty buffer. */
    boolean isReady() {
        return !ring.isEmpty() && (sessionWindow > 0 || ring.stream().anyMatch(s -> s.queuedBytes == 0));
    }

    /** An estimate of the bytes that can be sent now. */
    long batchBytes() {
        return ring.isEmpty() ? 0 : queuedBytes + 16L * ring.size();
    }

    /** Appends the next DATA frame. Returns null if no frame waits or fits. */
    Outbox.@Nullable Polled poll(ByteBuf out) {
        for (int turns = ring.size(); turns > 0; turns--) {
            StreamState stream = ring.element();
            if (stream.queuedBytes > 0 && sessionWindow <= 0) {
                ring.add(ring.remove()); // only an END without bytes can still be sent
                continue;
            }
            int room = Math.min(out.maxWritableBytes(), QUANTUM) - FrameCodec.HEADER_BYTES;
            int bytes = (int) Math.min(Math.min(stream.queuedBytes, stream.sendWindow), sessionWindow);
            if (room < Math.min(bytes, MIN_ROOM)) {
                return null;
            }
            stream.deficit = stream.deficit <= 0 ? stream.deficit + QUANTUM : stream.deficit;
            int sent = Math.max(0, Math.min(bytes, room));
            write(stream, sent, out);
            turnOver(stream);
            return new Outbox.Polled(stream, sent);
        }
        return null;
    }

    /**
     * Appends the rest of the stream's body as its last DATA frame, out of turn. Returns null if another head
     * of the stream waits, or if the body is long, does not end the stream, or does not fit.
     */
    Outbox.@Nullable Polled pollShortBody(StreamState stream, ByteBuf out) {
        int bytes = stream.queuedBytes;
        if (!stream.inRing || !stream.heads.isEmpty() || !stream.ends() || stream.trailers != null
                || bytes > SHORT_BODY
                || bytes > Math.min(stream.sendWindow, sessionWindow)
                || out.maxWritableBytes() < bytes + FrameCodec.HEADER_BYTES) {
            return null;
        }
        ring.remove(stream); // near the front, where its head was
        stream.inRing = false;
        write(stream, bytes, out);
        stream.deficit = 0;
        return new Outbox.Polled(stream, bytes);
    }

    private void write(StreamState stream, int bytes, ByteBuf out) {
        boolean last = bytes == stream.queuedBytes && stream.ends() && stream.trailers == null;
        FrameCodec.dataHeader(stream.id, bytes, last, out);
        for (int left = bytes; left > 0;) {
            ByteBuf body = Objects.requireNonNull(stream.data.peek());
            int part = Math.min(left, body.readableBytes());
            out.writeBytes(body, part);
            left -= part;
            if (!body.isReadable()) {
                Objects.requireNonNull(stream.data.poll()).release();
            }
        }
        stream.queuedBytes -= bytes;
        stream.sendWindow -= bytes;
        stream.deficit -= bytes + FrameCodec.HEADER_BYTES;
        stream.localEnded |= last;
        sessionWindow -= bytes;
        queuedBytes -= bytes;
    }

    private void turnOver(StreamState stream) {
        if (!stream.maySendData()) {
            ring.remove();
            stream.inRing = false;
            stream.deficit = 0;
        } else if (stream.deficit <= 0) {
            ring.add(ring.remove());
        }
    }

    void clear() {
        ring.clear();
    }
}
