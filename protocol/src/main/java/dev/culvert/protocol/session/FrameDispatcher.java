package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.GoingAway;
import dev.culvert.protocol.session.SessionEvent.Live;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.protocol.session.SessionEvent.Waiting;
import dev.culvert.protocol.session.SessionState.Phase;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Processes each received frame of a session. Throws {@link ProtocolException} for a peer's faults. */
final class FrameDispatcher {
    /**
     * DATA below this size is copied while its reader lags. Larger DATA retains at most eight times its bytes
     * in memory.
     */
    private static final int COPIED_BELOW = 8 << 10;

    private final SessionState session;
    /** Whether the head being received opens a stream. */
    private boolean opening;

    FrameDispatcher(SessionState session) {
        this.session = session;
    }

    void dispatch(Frame frame, long nowNanos) {
        if (session.headReader.isInterruptedBy(frame)
                || (session.phase == Phase.OPENING && !mayOpenWith(frame))
                || (session.phase == Phase.WAITING && !mayWaitWith(frame))) {
            Frame.release(frame);
            throw ProtocolException.session(ErrorCode.PROTOCOL, "a frame out of order");
        }
        switch (frame) {
            case Frame.OpeningHello f -> hello(f.hello());
            case Frame.Ready f -> ready(f);
            case Frame.ReadyAck f -> readyAck();
            case Frame.Wait f -> await(f.owner());
            case Frame.Leave f -> leave();
            case Frame.Head f -> head(f);
            case Frame.Data f -> data(f);
            case Frame.Grant f -> grant(f);
            case Frame.Reset f -> reset(f);
            case Frame.Ping f -> ping(f, nowNanos);
            case Frame.GoAway f -> goAway(f);
            case Frame.Auth f -> auth(f);
            case Frame.AuthAnswer f -> authAnswer(f);
            case Frame.Announce f -> announce(f);
            case Frame.Skipped f -> {
            }
        }
    }

    private void announce(Frame.Announce f) {
        if (session.role != Role.SERVER || !session.bothCan(Hello.ANNOUNCE)) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "ANNOUNCE out of order");
        }
        byte[] document = session.announcements.arrived(f);
        if (document != null) {
            session.events.add(new SessionEvent.Announced(document));
        }
    }

    private void auth(Frame.Auth f) {
        boolean unanswered = session.authPending || session.outbox.hasAuth();
        if (session.phase == Phase.OPENING) {
            session.openingProven = true;
            session.events.add(new SessionEvent.Auth(f.certificate(), f.proof()));
            return;
        }
        if (session.role != Role.SERVER || !session.bothCan(Hello.AUTH) || unanswered) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "AUTH out of order");
        }
        session.authPending = true;
        session.events.add(new SessionEvent.Auth(f.certificate(), f.proof()));
    }

    private void authAnswer(Frame.AuthAnswer f) {
        if (session.role != Role.CLIENT || !session.authPending) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "an answer to no AUTH");
        }
        session.authPending = false;
        session.events.add(new SessionEvent.AuthAnswer(f.code(), f.detail()));
    }

    private boolean mayOpenWith(Frame frame) {
        return switch (frame) {
            case Frame.OpeningHello f -> session.peer == null;
            case Frame.Ready f -> session.role == Role.CLIENT && session.peer != null;
            case Frame.Wait f -> session.role == Role.CLIENT && session.local.waits()
                    && session.bothCan(Hello.STANDBY);
            case Frame.Auth f -> session.role == Role.SERVER && session.peer != null
                    && session.bothCan(Hello.PROOF) && !session.openingProven;
            case Frame.Ping f -> true;
            case Frame.GoAway f -> true;
            case Frame.Skipped f -> true;
            default -> false;
        };
    }

    /**
     * A client that waits sends only heartbeats. It tolerates the frames of a stream, which it refuses
     * (docs/protocol.md §4.3).
     */
    private boolean mayWaitWith(Frame frame) {
        return switch (frame) {
            case Frame.Ping f -> true;
            case Frame.GoAway f -> true;
            case Frame.Skipped f -> true;
            case Frame.ReadyAck f -> session.promotion != null;
            case Frame.Ready f -> session.role == Role.CLIENT;
            case Frame.Head f -> session.role == Role.CLIENT;
            case Frame.Data f -> session.role == Role.CLIENT;
            case Frame.Grant f -> session.role == Role.CLIENT;
            case Frame.Reset f -> session.role == Role.CLIENT;
            default -> false;
        };
    }

    private void hello(Hello hello) {
        if (session.peer != null) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "a second hello");
        }
        int version = session.local.commonVersion(hello);
        if (version == 0 || (session.role == Role.SERVER && hello.minVersion() != hello.maxVersion())) {
            throw ProtocolException.session(ErrorCode.UNSUPPORTED,
                    "protocol versions " + hello.minVersion() + ".."
                            + hello.maxVersion() + " (spoken here: " + session.local.minVersion() + ".."
                            + session.local.maxVersion() + ")");
        }
        session.peer = hello;
        session.outbox.peerAccepts(hello.limits(), session.bothCan(Hello.SLOTS),
                session.bothCan(Hello.SPELLING));
        if (session.role == Role.CLIENT) {
            Hello answer = session.local.withVersion(version);
            session.outbox.control(new Frame.OpeningHello(
                    session.bothCan(Hello.STANDBY) ? answer : answer.withStandby(Hello.NO_STANDBY)));
            if (session.bothCan(Hello.PROOF)) {
                session.events.add(new SessionEvent.ProofWanted(hello));
            }
        } else {
            session.events.add(new PeerHello(hello));
        }
    }

    private void ready(Frame.Ready f) {
        if (session.role != Role.CLIENT || session.phase == Phase.LIVE) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "READY out of order");
        }
        if (session.phase == Phase.WAITING) {
            session.outbox.control(new Frame.ReadyAck());
        }
        live(f);
    }

    private void readyAck() {
        Frame.Ready promotion = session.promotion;
        if (promotion == null) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "an ACK of no READY");
        }
        session.promotion = null;
        live(promotion);
    }

    private void live(Frame.Ready f) {
        session.phase = Phase.LIVE;
        session.events.add(new Live(f.sessionHigh(), f.sessionLow(), f.generation(), f.runtime(), f.host()));
    }

    private void await(Frame.Ready f) {
        if (session.phase != Phase.OPENING) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "WAIT out of order");
        }
        session.phase = Phase.WAITING;
        session.events
                .add(new Waiting(f.sessionHigh(), f.sessionLow(), f.generation(), f.runtime(), f.host()));
    }

    private void leave() {
        if (session.role != Role.SERVER || !session.bothCan(Hello.STANDBY)) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "LEAVE out of order");
        }
        if (!session.leaving) {
            session.leaving = true;
            session.events.add(new SessionEvent.Leaving());
        }
    }

    private void head(Frame.Head frame) {
        if (!frame.has(FrameCodec.HEAD_MORE)) {
            try {
                begins(frame);
            } catch (ProtocolException e) {
                frame.block().release();
                throw e;
            }
        }
        try {
            HeadReader.Whole head = session.headReader.read(frame);
            if (head != null && opening) {
                opened(head);
            } else if (head != null) {
                onStream(head);
            }
        } catch (ProtocolException e) {
            if (!opening || e.streamId() == 0) {
                throw e;
            }
            session.resetOnWire(e.streamId(), e.code(), 0, SessionState.HOP_TUNNEL, "");
        }
    }

    /**
     * Checks the first frame of a head: its stream must be new or known, regardless of the rest of the head.
     */
    private void begins(Frame.Head frame) {
        int id = frame.streamId();
        opening = frame.has(FrameCodec.HEAD_OPENS);
        if (!opening) {
            known(id);
        } else if (session.role == Role.SERVER || id <= session.lastStreamId) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "stream " + id + " can't be opened");
        } else {
            session.lastStreamId = id;
        }
    }

    private void onStream(HeadReader.Whole head) {
        StreamState stream = known(head.streamId());
        if (stream == null) {
            return;
        }
        Http2Headers fields = head.fields();
        if (stream.remoteEnded) {
            throw ProtocolException.stream(stream.id, ErrorCode.PROTOCOL, "a head after the end");
        }
        HeadReader.checkOptions(head);
        if (head.has(FrameCodec.HEAD_TRAILERS)) {
            HeadReader.checkTrailers(head, stream.answered || session.role == Role.CLIENT);
            stream.remoteEnded = true;
            session.events.add(new SessionEvent.Trailers(stream.id, fields));
        } else {
            if (session.role == Role.CLIENT || stream.answered) {
                throw ProtocolException.stream(stream.id, ErrorCode.PROTOCOL, "a second head");
            }
            boolean informational = HeadReader.isInformational(head);
            boolean ended = head.has(FrameCodec.END);
            if (informational && !stream.takeInformational(fields, session.accepts.headBytes())) {
                throw ProtocolException.stream(stream.id, ErrorCode.OVERLOADED,
                        "too many informational responses");
            }
            stream.answered = !informational;
            stream.remoteEnded = ended;
            session.events.add(
                    new SessionEvent.ResponseHead(stream.id, fields, head.options(), informational, ended));
        }
        session.closeIfDone(stream);
    }

    private void opened(HeadReader.Whole head) {
        int id = head.streamId();
        if (session.goAwaySent || session.phase == Phase.WAITING
                || session.streams.size() >= session.accepts.streams()) {
            session.resetOnWire(id, ErrorCode.REFUSED, 0, SessionState.HOP_TUNNEL, "");
            return;
        }
        HeadReader.checkRequest(head, session.bothCan(Hello.TCP));
        StreamKind kind = Objects.requireNonNull(head.kind());
        int window = head.options().window();
        StreamState stream = new StreamState(id,
                window == 0 ? session.peer().limits().streamWindow() : window,
                session.accepts.streamWindow());
        stream.onWire = true;
        stream.remoteEnded = head.has(FrameCodec.END);
        session.streams.put(id, stream);
        session.events
                .add(new SessionEvent.Opened(id, kind, head.fields(), head.options(), stream.remoteEnded));
    }

    private void data(Frame.Data frame) {
        int bytes = frame.body().readableBytes();
        try {
            takeFromSession(bytes);
            StreamState stream = known(frame.streamId());
            if (stream == null) {
                frame.body().release();
                return;
            }
            if (stream.remoteEnded || (session.role == Role.SERVER && !stream.answered)) {
                throw ProtocolException.stream(stream.id, ErrorCode.PROTOCOL, "DATA out of order");
            }
            if (bytes > stream.receiveWindow) {
                throw ProtocolException.stream(stream.id, ErrorCode.FLOW_CONTROL,
                        "the stream's window is overrun");
            }
            int pending = stream.unconsumed;
            stream.receiveWindow -= bytes;
            session.windowGrowth.received(stream, bytes);
            stream.unconsumed += bytes;
            session.unconsumedBytes += bytes;
            stream.remoteEnded = frame.last();
            ByteBuf body = pending > 0 && bytes < COPIED_BELOW ? copied(frame.body()) : frame.body();
            session.events.add(new SessionEvent.Data(stream.id, body, frame.last()));
            session.closeIfDone(stream);
        } catch (ProtocolException e) {
            frame.body().release();
            throw e;
        }
    }

    /**
     * Counts bytes against the session's window and grants them at once, because they have left the socket
     * (docs/protocol.md §6).
     */
    private void takeFromSession(int bytes) {
        if (!session.receiveWindow.take(bytes)) {
            throw ProtocolException.session(ErrorCode.FLOW_CONTROL, "the session's window is overrun");
        }
    }

    /**
     * Copies a slice. A slice retains its whole batch, so slices of a slow reader would cost far more memory
     * than its stream's window.
     */
    private static ByteBuf copied(ByteBuf slice) {
        ByteBuf copy = slice.alloc().buffer(Math.max(1, slice.readableBytes())).writeBytes(slice);
        slice.release();
        return copy;
    }

    private void grant(Frame.Grant frame) {
        if (frame.streamId() == 0) {
            if (!session.outbox.grantSession(frame.bytes())) {
                throw ProtocolException.session(ErrorCode.FLOW_CONTROL, "the session's window is too large");
            }
            return;
        }
        StreamState stream = known(frame.streamId());
        if (stream != null) {
            if (frame.bytes() > WindowGrowth.MAX_WINDOW - stream.sendWindow) {
                throw ProtocolException.stream(stream.id, ErrorCode.FLOW_CONTROL,
                        "the stream's window is too large");
            }
            stream.sendWindow += frame.bytes();
            session.outbox.schedule(stream);
        }
    }

    private void reset(Frame.Reset frame) {
        StreamState stream = known(frame.streamId());
        if (stream != null && !stream.isEnded()) {
            session.drop(stream);
            session.events.add(
                    new StreamReset(stream.id, frame.code(), frame.cause(), frame.hop(), frame.detail()));
        }
    }

    private void ping(Frame.Ping frame, long nowNanos) {
        if (frame.ack()) {
            session.answered(frame.opaque(), nowNanos);
        } else {
            session.outbox.pong(frame.opaque());
        }
    }

    private void goAway(Frame.GoAway frame) {
        session.goAwayReceived = true;
        session.firstGoAway(frame);
        session.events
                .add(new GoingAway(frame.code(), frame.lastAccepted(), frame.delayMillis(), frame.detail()));
        if (!isGraceful(frame.code())) {
            session.end(frame.code(), frame.detail(), true);
        } else if (session.role == Role.SERVER) {
            for (StreamState stream : new ArrayList<>(session.streams.values())) {
                if (stream.id > frame.lastAccepted()) {
                    session.drop(stream);
                    session.events.add(new StreamReset(stream.id, ErrorCode.REFUSED, 0,
                            SessionState.HOP_TUNNEL, "not accepted"));
                }
            }
        }
    }

    private static boolean isGraceful(ErrorCode code) {
        return code == ErrorCode.NO_ERROR || code == ErrorCode.DRAINING || code == ErrorCode.REPLACED;
    }

    /**
     * The stream of a frame, or null if it has ended. A stream that was never opened is a fault of the peer.
     */
    private @Nullable StreamState known(int streamId) {
        if (streamId > session.lastStreamId) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "stream " + streamId + " was never opened");
        }
        StreamState stream = session.streams.get(streamId);
        if (stream != null && !stream.onWire) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "stream " + streamId + " was not opened yet");
        }
        return stream;
    }
}
