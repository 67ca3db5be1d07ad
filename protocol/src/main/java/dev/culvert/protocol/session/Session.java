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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The protocol state of one WebSocket connection (docs/protocol.md). Not thread-safe: confined to one event
 * loop.
 *
 * <p>After every {@code handle}, {@code onDeadline} or command: drain {@link #pollFrame}, then {@link
 * #pollEvent}, then re-arm the timer at {@link #nextDeadlineNanos}. Commands for a stream that has ended are
 * ignored and their buffers are released. The states are drawn in docs/protocol.md §13.
 */
public final class Session {
    /** The end of the WebSocket. Only the server opens streams. */
    public enum Role {
        SERVER, CLIENT
    }

    /** docs/protocol.md §10: cause "upstream-bad-response". */
    private static final int BAD_RESPONSE = 11;
    private static final int HOP_UPSTREAM = 4;
    private static final String NO_HEAD = "nothing may come before the response head";

    final SessionState session;
    private final FrameDispatcher dispatcher;
    private final long openingDeadlineNanos;

    /** Names the account that pays for this session's windows. No stream is open yet. */
    public void windowsOf(WindowAccount account) {
        session.windowGrowth.account(account);
    }

    /**
     * Starts a session. A server's hello can be polled at once.
     *
     * @param local the hello of this side; a client's version range is narrowed to the common version
     * @param windows lends the bytes by which windows grow
     * @param clock {@link System#nanoTime}, or another clock that the caller's {@code nowNanos} are read from
     */
    public Session(Role role, Hello local, SessionLimits limits, WindowAccount windows, LongSupplier clock) {
        this.session = new SessionState(role, local, limits, windows, clock);
        this.dispatcher = new FrameDispatcher(session);
        this.openingDeadlineNanos = clock.getAsLong() + limits.openingTimeout().toNanos();
        if (role == Role.SERVER) {
            session.outbox.control(new Frame.OpeningHello(local));
        }
    }

    // ---- what arrives ----

    /** Records that bytes of any kind were received, so the connection is alive. */
    public void received() {
        session.heartbeat.received();
    }

    /** Handles a frame and takes ownership of its buffer. Never throws for any input of a peer. */
    public void handle(Frame frame, long nowNanos) {
        if (session.phase == Phase.CLOSED) {
            Frame.release(frame);
            return;
        }
        try {
            dispatcher.dispatch(frame, nowNanos);
        } catch (ProtocolException e) {
            session.fail(e);
        }
    }

    /** Handles a fault that was detected while decoding like one detected by the session. */
    public void fail(ProtocolException e) {
        if (session.phase != Phase.CLOSED) {
            session.fail(e);
        }
    }

    // ---- commands ----

    /**
     * Server: accepts the client, after {@link SessionEvent.PeerHello} or {@link #await}. A client that waits
     * has to answer before the session is live.
     */
    public void ready(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        if (session.role != Role.SERVER || session.peer == null) {
            return;
        }
        if (session.phase == Phase.WAITING && session.promotion == null && !isDraining()) {
            session.promotion = new Frame.Ready(sessionHigh, sessionLow, generation, runtime, host);
            session.outbox.control(session.promotion);
        }
        if (session.phase != Phase.OPENING) {
            return;
        }
        session.phase = Phase.LIVE;
        session.outbox.control(new Frame.Ready(sessionHigh, sessionLow, generation, runtime, host));
        session.events.add(new Live(sessionHigh, sessionLow, generation, runtime, host));
    }

    /**
     * Server: lets the client wait, because another instance owns the runtime with {@code generation}; after
     * {@link SessionEvent.PeerHello}, if the client's hello {@linkplain Hello#waits waits}.
     */
    public void await(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        if (session.role == Role.SERVER && session.phase == Phase.OPENING && session.bothCan(Hello.STANDBY)) {
            session.phase = Phase.WAITING;
            session.outbox.control(new Frame.Wait(
                    new Frame.Ready(sessionHigh, sessionLow, generation, runtime, host)));
        }
    }

    /**
     * Client: reports that this process stops soon. The server answers with a go-away once another instance
     * has taken over, or if none does.
     *
     * @return false if the server lacks the capability, or the session is not live or goes away already
     */
    public boolean leave() {
        if (session.role != Role.CLIENT || session.phase != Phase.LIVE || isDraining()
                || !session.bothCan(Hello.STANDBY)) {
            return false;
        }
        if (!session.leaving) {
            session.leaving = true;
            session.outbox.control(new Frame.Leave());
        }
        return true;
    }

    /** Whether both sides have declared a capability (docs/protocol.md §4). */
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
     * Server: opens a stream. Check {@link #canOpen} first.
     *
     * @return the stream's id, or 0 if the peer does not accept a head of this size
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
            abort(stream, ErrorCode.FAILED, BAD_RESPONSE, HOP_UPSTREAM,
                    "the response's head exceeds the tunnel's limit of " + session.peer().limits().headBytes()
                            + " bytes (32 a field included) or " + session.peer().limits().headFields()
                            + " fields");
        } else if (informational && stream.heads.size() >= session.limits.informationalHeads()) {
            abort(stream, ErrorCode.OVERLOADED, 0, SessionState.HOP_TUNNEL,
                    "too many informational responses");
        } else if (session.outbox.hasTooManyHeads()) {
            abort(stream, ErrorCode.OVERLOADED, 0, SessionState.HOP_TUNNEL, "too many heads wait");
        } else if (informational
                && !stream.takeInformational(head, session.peer().limits().headBytes())) {
            return; // the peer accepts no more informational heads; the final head follows
        } else {
            stream.answered = !informational;
            stream.endQueued = ended;
            session.outbox.head(stream,
                    new OutgoingHead(head, ended ? FrameCodec.END : 0, options, StreamKind.HTTP));
        }
    }

    /**
     * Queues body bytes. Takes ownership of {@code body}. The stream is reset if its queue exceeds the bound,
     * or if a client calls this before its final head.
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
     * Ends this side's half after all queued frames, with trailers if there are any. The stream is reset if
     * the peer does not accept trailers of this size, or if a client calls this before its final head.
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

    /** Ends a stream at once in both directions. No event follows. Cause and hop: docs/protocol.md §10. */
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
     * Ends a stream in both directions as {@link #reset} does, but after its queued DATA, so that the peer
     * receives the bytes that were written before the failure. Like an END, the reset waits for the peer's
     * window or for the peer's reset.
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

    /** Reports that the reader has passed on {@code bytes} of a stream. The peer may send that many more. */
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
            session.grant(stream);
        }
        session.closeIfDone(stream);
    }

    /**
     * Accepts no new streams (client) or opens none (server). Streams in progress continue.
     *
     * @param code {@code DRAINING}, or {@code REPLACED} if another instance has taken over the runtime
     * @param delayMillis the time after which the peer should reconnect
     */
    public void goAway(ErrorCode code, int delayMillis, String detail) {
        if (session.isEstablished() && !session.goAwaySent) {
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
     * Client: proves a certificate (docs/protocol.md §4.1): the first one after {@link
     * SessionEvent.ProofWanted}, or another one while the session is live. Takes ownership of both arrays.
     *
     * @return false if the server lacks the capability, requires no proof now, or has not answered the
     *     previous proof
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

    /**
     * Client: announces {@code document}, at most 256 KiB, if the server has the capability. Takes ownership
     * of the array.
     */
    public void announce(byte[] document) {
        if (session.role == Role.CLIENT && session.phase == Phase.LIVE && session.bothCan(Hello.ANNOUNCE)) {
            session.announcements.send(document);
        }
    }

    /** Ends the session now. Open streams are reset. */
    public void close(ErrorCode code, String detail) {
        session.end(code, detail, false);
    }

    /** Records that the WebSocket was closed. */
    public void disconnected() {
        Frame.GoAway goAway = session.drainReason;
        if (goAway != null && session.streams.isEmpty()) {
            session.end(goAway.code(), goAway.detail(), true); // drained
        } else {
            session.end(ErrorCode.NO_ERROR, "the connection was lost", true);
        }
    }

    // ---- what is to be done ----

    /**
     * Whether {@link #onDeadline} would end the session now. Frames that were received but not handled yet
     * could prevent that.
     */
    public boolean isOverdue(long nowNanos) {
        return switch (session.phase) {
            case OPENING -> nowNanos - openingDeadlineNanos >= 0;
            case WAITING, LIVE -> session.heartbeat.isDead(nowNanos);
            case CLOSED -> false;
        };
    }

    /** Handles the passing of time: sends a due heartbeat, ends a dead session. */
    public void onDeadline(long nowNanos) {
        if (session.phase == Phase.OPENING && nowNanos - openingDeadlineNanos >= 0) {
            session.end(ErrorCode.TIMEOUT, "the session was not opened in time", false);
        } else if (session.isEstablished() && session.heartbeat.isDead(nowNanos)) {
            session.end(ErrorCode.TIMEOUT, "nothing was received after a heartbeat", false);
        } else if (session.isEstablished() && session.heartbeat.ping(nowNanos)) {
            session.outbox.ping(nowNanos);
            session.windowGrowth.forget();
        }
    }

    /** The time at which to call {@link #onDeadline}; {@link Long#MAX_VALUE} means never. */
    public long nextDeadlineNanos() {
        return switch (session.phase) {
            case OPENING -> openingDeadlineNanos;
            case WAITING, LIVE -> session.heartbeat.nextDeadlineNanos();
            case CLOSED -> Long.MAX_VALUE;
        };
    }

    /** Whether {@link #pollFrame} has a frame to send. */
    public boolean hasFrames() {
        return session.outbox.hasFrames();
    }

    /** An estimate of the size of the next batch, at most {@link FrameCodec#MAX_BATCH}. */
    public int batchBytes() {
        return session.outbox.batchBytes();
    }

    /**
     * Appends the next frame to {@code out} within its {@code maxWritableBytes}. Returns false if no frame
     * waits or fits.
     */
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

    /** The next event for the application, or null. */
    public @Nullable SessionEvent pollEvent() {
        return session.events.poll();
    }

    public boolean isLive() {
        return session.phase == Phase.LIVE;
    }

    public boolean isClosed() {
        return session.phase == Phase.CLOSED;
    }

    /** Whether one side has sent a go-away. */
    public boolean isDraining() {
        return session.goAwaySent || session.goAwayReceived;
    }

    /** The number of streams that have not ended. */
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

    /** The peer's hello, or null before it was received. */
    public @Nullable Hello peerHello() {
        return session.peer;
    }
}
