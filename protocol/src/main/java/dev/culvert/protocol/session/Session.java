package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionEvent.Live;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import dev.culvert.protocol.session.SessionEvent.Sent;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.protocol.session.SessionState.Phase;
import dev.culvert.protocol.session.StreamState.OutgoingHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * One WebSocket connection's protocol state (docs/protocol.md). Not thread-safe: it belongs to one event loop.
 *
 * <p>After every {@code handle}, {@code onDeadline} or command: drain {@link #pollFrame}, then {@link #pollEvent}, then
 * re-arm the timer at {@link #nextDeadlineNanos}. Commands for a stream that is gone are ignored, and their buffers
 * released. The states are drawn in docs/protocol.md §13.
 */
public final class Session {
    /** Which end of the WebSocket this is; only the server opens streams. */
    public enum Role {
        SERVER, CLIENT
    }

    /** docs/protocol.md §10: cause "upstream-bad-response". */
    private static final int BAD_RESPONSE = 11;
    private static final int HOP_UPSTREAM = 4;
    private static final String NO_HEAD = "nothing may come before the response head";

    final SessionState session;
    private final FrameDispatcher arrivals;
    private final long openingDeadlineNanos;

    /**
     * Starts a session; a server's hello is ready to be polled at once.
     *
     * @param local what this side says of itself; a client's version range is narrowed to the common version
     */
    public Session(Role role, Hello local, SessionLimits limits, long nowNanos) {
        this.session = new SessionState(role, local, limits, nowNanos);
        this.arrivals = new FrameDispatcher(session);
        this.openingDeadlineNanos = nowNanos + limits.openingTimeout().toNanos();
        if (role == Role.SERVER) {
            session.outbox.control(new Frame.OpeningHello(local));
        }
    }

    // ---- what arrives ----

    /** Bytes arrived, whatever they are: the link is alive. */
    public void received() {
        session.heartbeat.received();
    }

    /** Takes a frame and ownership of its buffer. Never throws for what a peer can send. */
    public void handle(Frame frame, long nowNanos) {
        if (session.phase == Phase.CLOSED) {
            Frame.release(frame);
            return;
        }
        try {
            arrivals.dispatch(frame, nowNanos);
        } catch (ProtocolException e) {
            session.fail(e);
        }
    }

    /** Treats a fault that was found while decoding like one found here. */
    public void fail(ProtocolException e) {
        if (session.phase != Phase.CLOSED) {
            session.fail(e);
        }
    }

    // ---- commands ----

    /** Server: lets the client in, after {@link SessionEvent.PeerHello}. */
    public void ready(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        if (session.role != Role.SERVER || session.peer == null || session.phase != Phase.OPENING) {
            return;
        }
        session.phase = Phase.LIVE;
        session.outbox.control(new Frame.Ready(sessionHigh, sessionLow, generation, runtime, host));
        session.events.add(new Live(sessionHigh, sessionLow, generation, runtime, host));
    }

    /** Whether both sides have said that they have a capability (docs/protocol.md §4). */
    public boolean bothCan(long capability) {
        return session.bothCan(capability);
    }

    /** Server: whether a stream can be opened now. */
    public boolean canOpen() {
        return session.role == Role.SERVER && session.phase == Phase.LIVE && !session.goAwaySent
                && !session.goAwayReceived
                && !session.outbox.hasTooManyHeads()
                && session.streams.size() < Math.min(session.accepts.streams(),
                        session.peer().limits().streams())
                && session.lastStreamId < Integer.MAX_VALUE;
    }

    /**
     * Server: opens a stream. Ask {@link #canOpen} first.
     *
     * @return the stream's id, or 0 when the peer does not accept a head of this size
     */
    public int open(StreamKind kind, Http2Headers head, HeadOptions options, boolean ended) {
        if (!canOpen()) {
            throw new IllegalStateException("this session opens no stream now");
        }
        if (!Heads.fit(head, session.peer().limits())) {
            return 0;
        }
        int window = options.window() == 0 ? session.accepts.streamWindow() : options.window();
        StreamState stream = new StreamState(++session.lastStreamId, session.peer().limits().streamWindow(),
                window);
        stream.endQueued = ended;
        session.streams.put(stream.id, stream);
        session.outbox.head(stream,
                new OutgoingHead(head, FrameCodec.HEAD_OPENS | (ended ? FrameCodec.END : 0), options,
                        kind));
        if (stream.id == Integer.MAX_VALUE) {
            goAway(ErrorCode.DRAINING, 0, "the stream ids ran out");
        }
        return stream.id;
    }

    /** Client: sends an informational head, or the final one. */
    public void respond(int streamId, Http2Headers head, HeadOptions options, boolean informational,
            boolean ended) {
        StreamState stream = session.streams.get(streamId);
        if (stream == null || stream.endQueued || stream.answered) {
            return;
        }
        if (!Heads.fit(head, session.peer().limits())) {
            abort(stream, ErrorCode.FAILED, BAD_RESPONSE, HOP_UPSTREAM, "the response head is too large");
        } else if (informational && stream.heads.size() >= session.limits.informationalHeads()) {
            abort(stream, ErrorCode.OVERLOADED, 0, SessionState.HOP_TUNNEL,
                    "too many informational responses");
        } else if (session.outbox.hasTooManyHeads()) {
            abort(stream, ErrorCode.OVERLOADED, 0, SessionState.HOP_TUNNEL, "too many heads wait");
        } else if (informational
                && !stream.takeInformational(head, session.peer().limits().headBytes())) {
            return; // the peer takes no more of them; the final head tells all that matters
        } else {
            stream.answered = !informational;
            stream.endQueued = ended;
            session.outbox.head(stream,
                    new OutgoingHead(head, ended ? FrameCodec.END : 0, options, StreamKind.HTTP));
        }
    }

    /**
     * Queues body bytes. Takes ownership of {@code body}. The stream is reset when they are more than its bound, or come
     * before a client's final head.
     */
    public void data(int streamId, ByteBuf body) {
        StreamState stream = session.streams.get(streamId);
        if (stream == null || stream.endQueued || !body.isReadable()) {
            body.release();
        } else if (!hasHead(stream)) {
            body.release();
            abort(stream, ErrorCode.INTERNAL, 0, SessionState.HOP_TUNNEL, NO_HEAD);
        } else if (body.readableBytes() > session.limits.queuedBytesPerStream() - stream.queuedBytes) {
            body.release();
            abort(stream, ErrorCode.OVERLOADED, 0, SessionState.HOP_TUNNEL, "too much data queued");
        } else {
            session.outbox.data(stream, body);
        }
    }

    /**
     * Ends this side's half behind everything queued, with trailers if there are any. The stream is reset when the peer
     * takes no trailers of this size, or when this comes before a client's final head.
     */
    public void end(int streamId, @Nullable Http2Headers trailers) {
        StreamState stream = session.streams.get(streamId);
        if (stream == null || stream.endQueued) {
            return;
        }
        Http2Headers fields = trailers == null || trailers.isEmpty() ? null : trailers;
        if (!hasHead(stream)) {
            abort(stream, ErrorCode.INTERNAL, 0, SessionState.HOP_TUNNEL, NO_HEAD);
        } else if (fields != null && !Heads.fit(fields, session.peer().limits())) {
            boolean response = session.role == Role.CLIENT;
            abort(stream, response ? ErrorCode.FAILED : ErrorCode.HEAD_TOO_LARGE, response ? BAD_RESPONSE : 0,
                    response ? HOP_UPSTREAM : SessionState.HOP_TUNNEL, "the trailers are too large");
        } else {
            stream.endQueued = true;
            stream.trailers = fields;
            session.outbox.schedule(stream);
        }
    }

    private boolean hasHead(StreamState stream) {
        return session.role == Role.SERVER || stream.answered;
    }

    private void abort(StreamState stream, ErrorCode code, int cause, int hop, String detail) {
        session.abort(stream, new StreamReset(stream.id, code, cause, hop, detail), detail);
    }

    /** Ends a stream at once, both ways; no event follows. Cause and hop: docs/protocol.md §10. */
    public void reset(int streamId, ErrorCode code, int cause, int hop, String detail) {
        StreamState stream = session.streams.get(streamId);
        if (stream != null) {
            boolean known = SessionState.isKnownToPeer(stream);
            session.drop(stream);
            if (known) {
                session.resetOnWire(streamId, code, cause, hop, detail);
            }
        }
    }

    /**
     * Ends a stream both ways as {@link #reset} does, but behind the DATA that it has queued: what its sender wrote before it
     * failed arrives. It waits for no longer than an END would: for the peer's window, or its reset.
     */
    public void breakOff(int streamId, ErrorCode code, int cause, int hop, String detail) {
        StreamState stream = session.streams.get(streamId);
        if (stream == null || stream.queuedBytes == 0 || stream.breakOff != null) {
            reset(streamId, code, cause, hop, detail);
        } else {
            stream.endless = !stream.endQueued;
            stream.endQueued = true;
            stream.breakOff = new Frame.Reset(streamId, code, cause, hop, detail);
        }
    }

    /** The reader has passed on {@code bytes} of a stream: the peer may send as many more. */
    public void consumed(int streamId, int bytes) {
        StreamState stream = session.streams.get(streamId);
        if (stream == null || bytes == 0) {
            return;
        }
        if (bytes < 0 || bytes > stream.unconsumed) {
            throw new IllegalArgumentException(
                    "consumed " + bytes + " of " + stream.unconsumed + " bytes received");
        }
        stream.unconsumed -= bytes;
        session.unconsumedBytes -= bytes;
        stream.grantDue += bytes;
        if (stream.grantDue >= stream.receiveWindowSize / 2 && !stream.remoteEnded) {
            session.outbox.grantPeer(stream);
        }
        session.closeIfDone(stream);
    }

    /**
     * Takes no new streams (client) or opens none (server); those in flight go on.
     *
     * @param code {@code DRAINING}, or {@code REPLACED} when another instance took the runtime over
     * @param delayMillis when the peer should dial again
     */
    public void goAway(ErrorCode code, int delayMillis, String detail) {
        if (session.phase == Phase.LIVE && !session.goAwaySent) {
            session.goAwaySent = true;
            Frame.GoAway goAway = new Frame.GoAway(code, session.lastAccepted(), delayMillis, detail);
            session.firstGoAway(goAway);
            if (session.role == Role.SERVER) {
                session.outbox.behindHeads(goAway);
            } else {
                session.outbox.control(goAway);
            }
        }
    }

    /**
     * Client: proves a certificate (docs/protocol.md §4.1): the first one after {@link SessionEvent.ProofWanted}, or another
     * when the session is live. Takes both arrays.
     *
     * @return false when the server has no such capability, wants no proof now, or owes an answer still
     */
    public boolean auth(byte[] certificate, byte[] proof) {
        if (session.role == Role.CLIENT && session.phase == Phase.OPENING && session.peer != null
                && session.bothCan(Hello.PROOF) && !session.openingProven) {
            session.openingProven = true;
            session.outbox.auth(new Frame.Auth(certificate, proof));
            return true;
        }
        if (session.role != Role.CLIENT || session.phase != Phase.LIVE || session.authPending
                || !session.bothCan(Hello.AUTH)) {
            return false;
        }
        session.authPending = true;
        session.outbox.auth(new Frame.Auth(certificate, proof));
        return true;
    }

    /** Server: answers {@link SessionEvent.Auth}. */
    public void answerAuth(ErrorCode code, String detail) {
        if (session.role == Role.SERVER && session.phase == Phase.LIVE && session.authPending) {
            session.authPending = false;
            session.outbox.auth(new Frame.AuthAnswer(code, detail));
        }
    }

    /** Client: announces {@code document}, at most 256 KiB, where the server has the capability. Takes the array. */
    public void announce(byte[] document) {
        if (session.role == Role.CLIENT && session.phase == Phase.LIVE && session.bothCan(Hello.ANNOUNCE)) {
            session.announcements.send(document);
        }
    }

    /** Ends the session now; streams left are reset. */
    public void close(ErrorCode code, String detail) {
        session.end(code, detail, false);
    }

    /** The WebSocket is gone. */
    public void disconnected() {
        Frame.GoAway goAway = session.drainReason;
        if (goAway != null && session.streams.isEmpty()) {
            session.end(goAway.code(), goAway.detail(), true); // drained
        } else {
            session.end(ErrorCode.NO_ERROR, "the connection was lost", true);
        }
    }

    // ---- what is to be done ----

    /** Whether {@link #onDeadline} would end the session now. What was received and not handled yet could prevent that. */
    public boolean isOverdue(long nowNanos) {
        return switch (session.phase) {
            case OPENING -> nowNanos - openingDeadlineNanos >= 0;
            case LIVE -> session.heartbeat.isDead(nowNanos);
            case CLOSED -> false;
        };
    }

    /** Time passed: sends a due session.heartbeat, ends a dead session. */
    public void onDeadline(long nowNanos) {
        if (session.phase == Phase.OPENING && nowNanos - openingDeadlineNanos >= 0) {
            session.end(ErrorCode.TIMEOUT, "the session was not opened in time", false);
        } else if (session.phase == Phase.LIVE && session.heartbeat.isDead(nowNanos)) {
            session.end(ErrorCode.TIMEOUT, "nothing was received after a heartbeat", false);
        } else if (session.phase == Phase.LIVE && session.heartbeat.ping(nowNanos)) {
            session.outbox.ping(nowNanos);
        }
    }

    /** When {@link #onDeadline} is to be called; {@link Long#MAX_VALUE} means never. */
    public long nextDeadlineNanos() {
        return switch (session.phase) {
            case OPENING -> openingDeadlineNanos;
            case LIVE -> session.heartbeat.nextDeadlineNanos();
            case CLOSED -> Long.MAX_VALUE;
        };
    }

    /** Whether {@link #pollFrame} has something to send. */
    public boolean hasFrames() {
        return session.outbox.hasFrames();
    }

    /** A guess of the size of the next batch, at most {@link FrameCodec#MAX_BATCH}. */
    public int batchBytes() {
        return session.outbox.batchBytes();
    }

    /** Appends the next frame to {@code out} within its {@code maxWritableBytes}; false when nothing waits or fits. */
    public boolean pollFrame(ByteBuf out) {
        Outbox.Polled polled;
        try {
            polled = session.outbox.poll(out);
        } catch (ProtocolException e) {
            session.fail(e);
            polled = session.outbox.poll(out);
        }
        if (polled == null) {
            return false;
        }
        StreamState stream = polled.stream();
        if (stream != null) {
            if (polled.bytes() > 0) {
                session.events.add(new Sent(stream.id, polled.bytes()));
            }
            Frame.Reset end = stream.breakOff;
            if (end != null && stream.mayBreakOff()) {
                reset(end.streamId(), end.code(), end.cause(), end.hop(), end.detail());
            }
            session.closeIfDone(stream);
        }
        return true;
    }

    /** The next thing the application should know, or null. */
    public @Nullable SessionEvent pollEvent() {
        return session.events.poll();
    }

    public boolean isLive() {
        return session.phase == Phase.LIVE;
    }

    public boolean isClosed() {
        return session.phase == Phase.CLOSED;
    }

    /** Whether one side has said that it goes away. */
    public boolean isDraining() {
        return session.goAwaySent || session.goAwayReceived;
    }

    /** Streams that are not gone yet. */
    public int streamCount() {
        return session.streams.size();
    }

    /** Bytes queued to send, plus bytes received that no reader has consumed. */
    public long bufferedBytes() {
        return session.outbox.queuedBytes() + session.unconsumedBytes;
    }

    /** The last round-trip time in nanoseconds, or -1 before the first. */
    public long rttNanos() {
        return session.heartbeat.rttNanos();
    }

    /** What the peer said of itself, once it has. */
    public @Nullable Hello peerHello() {
        return session.peer;
    }
}
