package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.StreamState.OutgoingHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What waits for the wire, in the order of docs/protocol.md §7: a head already begun, control, heads, DATA by deficit round
 * robin. Holds no more than its streams do: resets are bounded by the session, grants and pings are coalesced.
 */
final class Outbox {
    /** A stream's share of a round, in bytes of frames. */
    private static final int QUANTUM = 16 << 10;
    /** A DATA frame is not begun for less room than this, unless it is the stream's last bytes: it would be all header. */
    private static final int MIN_DATA_ROOM = 1 << 10;
    /** Room for the longest frame that is neither HEAD nor DATA: READY with its texts at their longest. */
    private static final int CONTROL_ROOM = FrameCodec.HEADER_BYTES + 512;
    /** A scratch buffer that a large head has grown is given up beyond this. */
    private static final int SCRATCH_KEPT = 8 << 10;

    private final Heads heads;
    private final SessionWindow receiveWindow;
    private final ArrayDeque<Frame> control = new ArrayDeque<>();
    private final ArrayDeque<StreamState> grants = new ArrayDeque<>();
    private final ArrayDeque<StreamState> headQueue = new ArrayDeque<>();
    private final ArrayDeque<StreamState> ring = new ArrayDeque<>();
    private int resets;
    private boolean pingDue;
    private long ping;
    private boolean pongDue;
    private long pong;
    private Frame.@Nullable GoAway behindHeads;
    private boolean cleared;

    private ByteBuf scratch = Unpooled.EMPTY_BUFFER;
    private @Nullable StreamState headOf;
    private @Nullable OutgoingHead headBegun;
    private boolean headContinues;

    /** DATA bytes the session may still send. */
    private long sessionWindow;
    /** DATA bytes queued on all streams. */
    private long queuedBytes;

    Outbox(Heads heads, SessionWindow receiveWindow) {
        this.heads = heads;
        this.receiveWindow = receiveWindow;
    }

    /** Takes over the peer's limits, before anything is sent on a stream. */
    void peerAccepts(Limits peer) {
        heads.peerAccepts(peer);
        sessionWindow = peer.sessionWindow();
    }

    /** Adds to the session's window. Returns false when that lifts it over 2^31−1. */
    boolean grantSession(int bytes) {
        sessionWindow += bytes;
        return sessionWindow <= Integer.MAX_VALUE;
    }

    void control(Frame frame) {
        control.add(frame);
        resets += frame instanceof Frame.Reset ? 1 : 0;
    }

    int pendingResets() {
        return resets;
    }

    /** A server's last word on new streams follows the heads that are queued: the peer may close behind it. */
    void behindHeads(Frame.GoAway goAway) {
        behindHeads = goAway;
    }

    void ping(long opaque) {
        ping = opaque;
        pingDue = true;
    }

    void pong(long opaque) {
        pong = opaque;
        pongDue = true;
    }

    void grantPeer(StreamState stream) {
        if (!stream.grantQueued) {
            stream.grantQueued = true;
            grants.add(stream);
        }
    }

    void head(StreamState stream, OutgoingHead head) {
        stream.heads.add(head);
        headQueue.add(stream);
    }

    void data(StreamState stream, ByteBuf body) {
        int bytes = body.readableBytes();
        stream.data.add(body);
        stream.queuedBytes += bytes;
        queuedBytes += bytes;
        schedule(stream);
    }

    /** Puts the stream where it belongs after its data, window or end changed. */
    void schedule(StreamState stream) {
        if (stream.maySendTrailers()) {
            OutgoingHead trailers = new OutgoingHead(Objects.requireNonNull(stream.trailers),
                    FrameCodec.HEAD_TRAILERS | FrameCodec.END, HeadOptions.NONE, StreamKind.HTTP);
            stream.trailers = null;
            head(stream, trailers);
        } else if (!stream.inRing && stream.maySendData()) {
            stream.inRing = true;
            ring.add(stream);
        }
    }

    /** Forgets what the stream had queued, but for a head already begun. */
    void drop(StreamState stream) {
        if (stream.grantQueued) {
            grants.remove(stream);
        }
        if (!stream.heads.isEmpty()) {
            headQueue.removeIf(queued -> queued == stream);
        }
        if (stream.inRing) {
            ring.remove(stream);
            stream.inRing = false;
        }
        queuedBytes -= stream.dropQueue();
        stream.endQueued = true;
        stream.localEnded = true;
    }

    long queuedBytes() {
        return queuedBytes;
    }

    /** Entries in all queues together. */
    int queuedEntries() {
        return control.size() + grants.size() + headQueue.size() + ring.size();
    }

    /** Whether {@link #poll} would write something into an empty buffer. */
    boolean hasFrames() {
        return headOf != null || pingDue || pongDue || grantDue() || !control.isEmpty() || !grants.isEmpty()
                || !headQueue.isEmpty() || behindHeads != null || dataReady();
    }

    private boolean grantDue() {
        return !cleared && receiveWindow.isDue();
    }

    private boolean dataReady() {
        return !ring.isEmpty() && (sessionWindow > 0 || ring.stream().anyMatch(s -> s.queuedBytes == 0));
    }

    /** A guess of how large the next batch gets, so that its buffer need not grow. */
    int batchBytes() {
        long bytes = 64L * (control.size() + grants.size() + 2) + 512L * headQueue.size()
                + (ring.isEmpty() ? 0 : queuedBytes) + 16L * ring.size() + scratch.readableBytes();
        return (int) Math.min(FrameCodec.MAX_BATCH, bytes);
    }

    /**
     * Appends the next frame to {@code out}, as far as {@code maxWritableBytes} reaches.
     *
     * @return the stream whose DATA or head was sent, {@link #CONTROL} for another frame, or null when nothing fits or waits
     */
    @Nullable
    Polled poll(ByteBuf out) {
        if (headOf != null) {
            return pollHead(headOf, out);
        }
        if (pollControl(out)) {
            return CONTROL;
        }
        StreamState stream = headQueue.poll();
        if (stream != null) {
            return begin(stream, stream.heads.remove(), out);
        }
        if (behindHeads != null && out.maxWritableBytes() >= CONTROL_ROOM) {
            FrameCodec.encode(behindHeads, out);
            behindHeads = null;
            return CONTROL;
        }
        return pollData(out);
    }

    /** What a poll has put on the wire: nothing of a stream, or {@code bytes} of DATA of one. */
    record Polled(@Nullable StreamState stream, int bytes) {}

    static final Polled CONTROL = new Polled(null, 0);

    private boolean pollControl(ByteBuf out) {
        if (out.maxWritableBytes() < CONTROL_ROOM) {
            return false;
        }
        Frame next = control.poll();
        if (next == null && pingDue) {
            pingDue = false;
            next = new Frame.Ping(ping, false);
        } else if (next == null && pongDue) {
            pongDue = false;
            next = new Frame.Ping(pong, true);
        } else if (next == null && grantDue()) {
            next = new Frame.Grant(0, receiveWindow.grant());
        } else if (next == null) {
            next = pollGrant();
        }
        if (next == null) {
            return false;
        }
        resets -= next instanceof Frame.Reset ? 1 : 0;
        FrameCodec.encode(next, out);
        return true;
    }

    private @Nullable Frame pollGrant() {
        for (StreamState stream = grants.poll(); stream != null; stream = grants.poll()) {
            stream.grantQueued = false;
            int due = stream.grantDue;
            if (due > 0 && !stream.remoteEnded) {
                stream.grantDue = 0;
                stream.receiveWindow += due;
                return new Frame.Grant(stream.id, due);
            }
        }
        return null;
    }

    private @Nullable Polled begin(StreamState stream, OutgoingHead head, ByteBuf out) {
        if (scratch.capacity() == 0 || scratch.capacity() > SCRATCH_KEPT) {
            scratch = Unpooled.buffer(512);
        }
        scratch.clear();
        heads.encode(stream.id, head.fields(), scratch);
        stream.onWire = true;
        headOf = stream;
        headBegun = head;
        headContinues = false;
        return pollHead(stream, out);
    }

    private @Nullable Polled pollHead(StreamState stream, ByteBuf out) {
        OutgoingHead head = Objects.requireNonNull(headBegun);
        int overhead = FrameCodec.HEADER_BYTES + (headContinues ? 0 : 64);
        int room = Math.min(out.maxWritableBytes(), FrameCodec.MAX_PAYLOAD) - overhead;
        int bytes = Math.min(scratch.readableBytes(), room);
        if (room < 0 || (bytes == 0 && scratch.isReadable())) {
            return null;
        }
        boolean last = bytes == scratch.readableBytes();
        int flags = (headContinues ? FrameCodec.HEAD_MORE : head.flags()) | (last ? FrameCodec.HEAD_LAST : 0);
        FrameCodec.encodeHead(stream.id, flags, head.kind(), head.options(), scratch, bytes, out);
        headContinues = true;
        if (last) {
            headOf = null;
            headBegun = null;
            stream.localEnded |= (head.flags() & FrameCodec.END) != 0;
            schedule(stream);
        }
        return new Polled(stream, 0);
    }

    private @Nullable Polled pollData(ByteBuf out) {
        for (int turns = ring.size(); turns > 0; turns--) {
            StreamState stream = ring.peek();
            if (stream == null || !stream.maySendData()) {
                leaveRing();
                continue;
            }
            if (stream.queuedBytes > 0 && sessionWindow <= 0) {
                ring.add(ring.remove()); // only an END without bytes can still leave
                continue;
            }
            int room = Math.min(out.maxWritableBytes(), QUANTUM) - FrameCodec.HEADER_BYTES;
            int bytes = (int) Math.min(Math.min(stream.queuedBytes, stream.sendWindow), sessionWindow);
            if (room < Math.min(bytes, MIN_DATA_ROOM)) {
                return null;
            }
            stream.deficit = stream.deficit <= 0 ? stream.deficit + QUANTUM : stream.deficit;
            return sendData(stream, Math.max(0, Math.min(bytes, room)), out);
        }
        return null;
    }

    private Polled sendData(StreamState stream, int bytes, ByteBuf out) {
        boolean last = bytes == stream.queuedBytes && stream.endQueued && stream.trailers == null;
        FrameCodec.dataHeader(stream.id, bytes, last, out);
        for (int left = bytes; left > 0;) {
            ByteBuf body = Objects.requireNonNull(stream.data.peek());
            int part = Math.min(left, body.readableBytes());
            out.writeBytes(body, part);
            left -= part;
            if (!body.isReadable()) {
                stream.data.remove().release();
            }
        }
        stream.queuedBytes -= bytes;
        stream.sendWindow -= bytes;
        stream.deficit -= bytes + FrameCodec.HEADER_BYTES;
        sessionWindow -= bytes;
        queuedBytes -= bytes;
        stream.localEnded |= last;
        if (!stream.maySendData()) {
            leaveRing();
            schedule(stream);
        } else if (stream.deficit <= 0) {
            ring.add(ring.remove());
        }
        return new Polled(stream, bytes);
    }

    private void leaveRing() {
        StreamState stream = ring.remove();
        stream.inRing = false;
        stream.deficit = 0;
    }

    /** Forgets everything that waits; a peer that still listens gets the rest of a head already begun, and {@code last}. */
    void clear(@Nullable Frame last) {
        control.clear();
        grants.clear();
        headQueue.clear();
        ring.clear();
        resets = 0;
        pingDue = false;
        pongDue = false;
        behindHeads = null;
        cleared = true;
        if (last != null) {
            control.add(last);
        } else {
            headOf = null;
        }
    }
}
