package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.StreamState.OutgoingHead;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The frames that wait to be sent, in the order of docs/protocol.md §7: a partly sent head, control frames,
 * heads (each with the rest of a short body), DATA by deficit round robin. Its size is bounded by its
 * streams: the session bounds resets; grants and pings are coalesced.
 */
final class Outbox {
    /** Space for the longest frame other than HEAD and DATA: READY with texts of maximum length. */
    private static final int CONTROL_ROOM = FrameCodec.HEADER_BYTES + 512;
    private static final int AUTH_ROOM = CONTROL_ROOM + FrameCodec.MAX_CERTIFICATE + FrameCodec.MAX_PROOF;

    /** The maximum decoded bytes of all heads that wait for the socket. */
    static final long MAX_HEAD_BYTES = 8 << 20;

    /** The maximum bytes of short bodies that are sent with their heads, before DATA in turn. */
    private static final int MAX_WITH_HEADS = FrameCodec.MAX_BATCH;

    private final Heads heads;
    private final HeadWriter headWriter;
    private final DataRing ring = new DataRing();
    private final SessionWindow receiveWindow;
    private final Announcements announcements;
    private final ArrayDeque<Frame> control = new ArrayDeque<>();
    private final ArrayDeque<StreamState> grants = new ArrayDeque<>();
    private final ArrayDeque<StreamState> headQueue = new ArrayDeque<>();
    /** The decoded bytes of all waiting heads. */
    private long headBytes;
    /** The stream of the last frame, if that completed a head. Its body may follow at once. */
    private @Nullable StreamState headed;
    /** The bytes of short bodies that were sent with their heads since the last DATA in turn. */
    private int withHeads;
    private int resets;
    private boolean pingDue;
    private long ping;
    private boolean probeDue;
    private long probe;
    private boolean pongDue;
    private long pong;
    private @Nullable Frame auth;
    private Frame.@Nullable GoAway behindHeads;
    private boolean cleared;

    Outbox(Heads heads, SessionWindow receiveWindow, Announcements announcements) {
        this.heads = heads;
        this.headWriter = new HeadWriter(heads);
        this.receiveWindow = receiveWindow;
        this.announcements = announcements;
    }

    /** Applies the peer's limits. Called before anything is sent on a stream. */
    void peerAccepts(Limits peer, boolean slots, boolean spelling) {
        heads.peerAccepts(peer, slots, spelling);
        ring.grant(peer.sessionWindow());
    }

    /** Adds to the session's window. Returns false if the window would exceed 2^31−1. */
    boolean grantSession(int bytes) {
        return ring.grant(bytes);
    }

    void control(Frame frame) {
        control.add(frame);
        resets += frame instanceof Frame.Reset ? 1 : 0;
    }

    /** Queues AUTH or its answer; at most one waits at a time. */
    void auth(Frame claimOrAnswer) {
        auth = claimOrAnswer;
    }

    boolean hasAuth() {
        return auth != null;
    }

    int pendingResets() {
        return resets;
    }

    /** Queues a server's go-away after the waiting heads, because the peer may close after it. */
    void behindHeads(Frame.GoAway goAway) {
        behindHeads = goAway;
    }

    void ping(long opaque) {
        ping = opaque;
        pingDue = true;
    }

    /** Sends a PING that measures a round trip, beside the heartbeat's. At most one waits at a time. */
    void probe(long opaque) {
        probe = opaque;
        probeDue = true;
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
        headBytes += head.bytes();
    }

    /** Whether the waiting heads have reached their limit in bytes (docs/protocol.md §12). */
    boolean hasTooManyHeads() {
        return headBytes >= MAX_HEAD_BYTES;
    }

    void data(StreamState stream, ByteBuf body) {
        ring.queue(stream, body);
        schedule(stream);
    }

    /** Schedules the stream anew after its data, window or end has changed. */
    void schedule(StreamState stream) {
        if (headWriter.isWriting(stream)) {
            return; // called again after the head, which may end the stream
        }
        if (stream.maySendTrailers()) {
            OutgoingHead trailers = new OutgoingHead(Objects.requireNonNull(stream.trailers),
                    FrameCodec.HEAD_TRAILERS | FrameCodec.END, HeadOptions.NONE, StreamKind.HTTP);
            stream.trailers = null;
            head(stream, trailers);
        } else {
            ring.enter(stream);
        }
    }

    /** Drops the queued frames of the stream, except a partly sent head. */
    void drop(StreamState stream) {
        if (stream.grantQueued) {
            grants.remove(stream);
        }
        if (!stream.heads.isEmpty()) {
            stream.heads.forEach(head -> headBytes -= head.bytes());
            headQueue.removeIf(queued -> queued == stream);
        }
        ring.drop(stream);
        stream.endQueued = true;
        stream.localEnded = true;
    }

    long queuedBytes() {
        return ring.queuedBytes();
    }

    /** The total number of entries in all queues. */
    int queuedEntries() {
        return control.size() + grants.size() + headQueue.size() + ring.size();
    }

    /** Whether {@link #poll} would write a frame into an empty buffer. */
    boolean hasFrames() {
        return headWriter.isBusy() || pingDue || probeDue || pongDue || auth != null || announcements.isDue()
                || grantDue() || !control.isEmpty()
                || !grants.isEmpty()
                || !headQueue.isEmpty() || behindHeads != null || ring.isReady();
    }

    private boolean grantDue() {
        return !cleared && receiveWindow.isDue();
    }

    /** An estimate of the size of the next batch, so that its buffer need not grow. */
    int batchBytes() {
        long bytes = 64L * (control.size() + grants.size() + 2) + 512L * headQueue.size()
                + (auth == null ? 0 : AUTH_ROOM) + announcements.dueBytes()
                + ring.batchBytes() + headWriter.waitingBytes();
        return (int) Math.min(FrameCodec.MAX_BATCH, bytes);
    }

    /**
     * Appends the next frame to {@code out}, up to {@code maxWritableBytes}.
     *
     * @return the stream whose DATA or head was sent, {@link #CONTROL} for another frame, or null if no frame
     *     waits or fits
     */
    @Nullable
    Polled poll(ByteBuf out) {
        Polled shortBody = pollShortBody(out);
        if (shortBody != null) {
            return shortBody;
        }
        if (!headWriter.isBusy()) {
            if (pollControl(out)) {
                return CONTROL;
            }
            StreamState next = headQueue.poll();
            if (next != null) {
                OutgoingHead head = next.heads.remove();
                headBytes -= head.bytes();
                headWriter.begin(next, head);
            } else {
                return behindHeads != null && out.maxWritableBytes() >= CONTROL_ROOM
                        ? pollBehindHeads(behindHeads, out)
                        : pollData(out);
            }
        }
        StreamState stream = headWriter.poll(out);
        if (stream != null && !headWriter.isBusy()) {
            schedule(stream);
            headed = stream;
        }
        return stream == null ? null : new Polled(stream, 0);
    }

    /**
     * Appends the whole body of the stream whose head was the last frame, if that body is short. So the
     * receiver has both in one pass of its event loop, and passes them on in one write.
     */
    private @Nullable Polled pollShortBody(ByteBuf out) {
        StreamState stream = headed;
        headed = null;
        if (stream == null || withHeads >= MAX_WITH_HEADS) {
            return null;
        }
        Polled polled = ring.pollShortBody(stream, out);
        withHeads += polled == null ? 0 : polled.bytes();
        return polled;
    }

    private Polled pollBehindHeads(Frame.GoAway goAway, ByteBuf out) {
        FrameCodec.encode(goAway, out);
        behindHeads = null;
        return CONTROL;
    }

    private @Nullable Polled pollData(ByteBuf out) {
        withHeads = 0;
        Polled polled = ring.poll(out);
        if (polled != null && polled.stream != null) {
            schedule(polled.stream); // its trailers may now be due
        }
        return polled;
    }

    /** The result of a poll: a frame without a stream, or {@code bytes} of DATA of a stream. */
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
        } else if (next == null && probeDue) {
            probeDue = false;
            next = new Frame.Ping(probe, false);
        } else if (next == null && pongDue) {
            pongDue = false;
            next = new Frame.Ping(pong, true);
        } else if (next == null && auth != null && out.maxWritableBytes() >= AUTH_ROOM) {
            next = auth;
            auth = null;
        } else if (next == null && grantDue()) {
            next = new Frame.Grant(0, receiveWindow.grant());
        } else if (next == null) {
            next = pollGrant();
        }
        if (next == null && announcements.isDue()) {
            next = announcements.next(out);
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

    /**
     * Drops all waiting frames. If {@code last} is not null, the rest of a partly sent head and {@code last}
     * are still sent.
     */
    void clear(@Nullable Frame last) {
        control.clear();
        grants.clear();
        headQueue.clear();
        headBytes = 0;
        headed = null;
        ring.clear();
        resets = 0;
        pingDue = false;
        probeDue = false;
        pongDue = false;
        auth = null;
        announcements.clear();
        behindHeads = null;
        cleared = true;
        if (last != null) {
            control.add(last);
        } else {
            headWriter.forget();
        }
    }
}
