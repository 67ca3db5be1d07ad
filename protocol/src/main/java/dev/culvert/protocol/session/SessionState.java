package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.StreamClosed;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state that {@link Session}'s commands and {@link FrameDispatcher} share: the streams, and the ending of
 * streams and session.
 */
final class SessionState {
    enum Phase {
        OPENING,
        /** Another instance owns the runtime (docs/protocol.md §4.3). Only heartbeats are exchanged. */
        WAITING, LIVE, CLOSED
    }

    /** docs/protocol.md §10: cause "tunnel-lost" and hop "tunnel", for the streams of a session that ends. */
    private static final int TUNNEL_LOST = 7;
    static final int HOP_TUNNEL = 2;
    /** The number of resets that may wait in addition to two for each stream (docs/protocol.md §12). */
    private static final int SPARE_RESETS = 16;

    final Role role;
    final Hello local;
    final SessionLimits limits;
    final Limits accepts;
    final Heartbeat heartbeat;
    final SessionWindow receiveWindow;
    final WindowGrowth windowGrowth;
    final Outbox outbox;
    final HeadReader headReader;
    final Announcements announcements = new Announcements();
    final IntObjectMap<StreamState> streams = new IntObjectHashMap<>();
    final ArrayDeque<SessionEvent> events = new ArrayDeque<>();

    Phase phase = Phase.OPENING;
    @Nullable
    Hello peer;
    int lastStreamId;
    /** Server: the READY that ends the waiting, until its ACK is received. */
    Frame.@Nullable Ready promotion;
    /** Whether LEAVE was sent or received. */
    boolean leaving;
    boolean goAwaySent;
    boolean goAwayReceived;
    /** The first go-away of either side, which is the reason for draining. */
    Frame.@Nullable GoAway drainReason;
    /**
     * Whether an AUTH waits for its answer, from the server (on the client) or from the application (on the
     * server).
     */
    boolean authPending;
    /** Whether AUTH was received or sent before READY. */
    boolean openingProven;
    long unconsumedBytes;

    SessionState(Role role, Hello local, SessionLimits limits, WindowAccount windows, LongSupplier clock) {
        this.role = role;
        this.local = local;
        this.limits = limits;
        this.accepts = local.limits();
        this.heartbeat = new Heartbeat(limits, clock.getAsLong());
        Heads heads = new Heads(accepts);
        this.receiveWindow = new SessionWindow(accepts.sessionWindow());
        this.windowGrowth = new WindowGrowth(windows, clock);
        this.outbox = new Outbox(heads, receiveWindow, announcements);
        this.headReader = new HeadReader(heads, accepts.headBytes());
    }

    /** Handles a fault that was detected while decoding like one detected by the session. */
    void fail(ProtocolException e) {
        StreamState stream = streams.get(e.streamId());
        if (e.streamId() == 0) {
            end(e.code(), e.getMessage(), false);
        } else if (stream != null) {
            abort(stream, new StreamReset(stream.id, e.code(), 0, HOP_TUNNEL, e.getMessage()), "");
        }
    }

    /** Resets a stream for a reason of this session, and notifies the application and the peer. */
    void abort(StreamState stream, StreamReset reset, String detailForPeer) {
        boolean known = isKnownToPeer(stream);
        drop(stream);
        events.add(reset);
        if (known) {
            resetOnWire(stream.id, reset.code(), reset.cause(), reset.hop(), detailForPeer);
        }
    }

    /**
     * Whether the peer has the stream: its opening was sent or received, and it has not ended on the wire in
     * both directions.
     */
    static boolean isKnownToPeer(StreamState stream) {
        return stream.onWire && !stream.isEnded();
    }

    /** Whether the peer was accepted, so that heartbeats are exchanged. */
    boolean isEstablished() {
        return phase == Phase.WAITING || phase == Phase.LIVE;
    }

    void firstGoAway(Frame.GoAway goAway) {
        if (drainReason == null) {
            drainReason = goAway;
        }
    }

    /** Whether both sides have a capability (docs/protocol.md §4). */
    boolean bothCan(long capability) {
        return peer != null && (peer.capabilities() & local.capabilities() & capability) != 0;
    }

    Hello peer() {
        return Objects.requireNonNull(peer);
    }

    int lastAccepted() {
        return role == Role.CLIENT ? lastStreamId : 0;
    }

    void resetOnWire(int streamId, ErrorCode code, int cause, int hop, String detail) {
        if (outbox.pendingResets() >= 2L * accepts.streams() + SPARE_RESETS) {
            end(ErrorCode.OVERLOADED, "too many resets wait for the socket", false);
        } else {
            outbox.control(new Frame.Reset(streamId, code, cause, hop, detail));
        }
    }

    /** Grants what a stream has consumed, less what others need more, and looks whether it needs more. */
    void grant(StreamState stream) {
        windowGrowth.shrink(stream);
        if (windowGrowth.begins(stream)) {
            outbox.probe(windowGrowth.opaque());
        }
        outbox.grantPeer(stream);
    }

    /** Handles the ACK of a PING. */
    void answered(long opaque, long nowNanos) {
        if (heartbeat.answered(opaque, nowNanos)) {
            windowGrowth.measured(heartbeat.rttNanos(), nowNanos);
        }
        if (opaque == windowGrowth.opaque()) {
            windowGrowth.ends(nowNanos).forEach(outbox::grantPeer);
        }
    }

    void closeIfDone(StreamState stream) {
        if (stream.isClosed() && streams.remove(stream.id) != null) {
            windowGrowth.end(stream);
            events.add(new StreamClosed(stream.id));
        }
    }

    void drop(StreamState stream) {
        streams.remove(stream.id);
        windowGrowth.end(stream);
        outbox.drop(stream);
        unconsumedBytes -= stream.unconsumed;
        stream.unconsumed = 0;
        stream.remoteEnded = true;
    }

    void end(ErrorCode code, String detail, boolean byPeer) {
        if (phase == Phase.CLOSED) {
            return;
        }
        phase = Phase.CLOSED;
        ErrorCode reset = code == ErrorCode.NO_ERROR ? ErrorCode.FAILED : code;
        for (StreamState stream : new ArrayList<>(streams.values())) {
            // A stream that has ended in both directions is complete, even if its reader still has bytes to
            // pass on.
            boolean complete = stream.isEnded();
            // A stream whose opening was never sent may be retried elsewhere.
            ErrorCode how = stream.onWire ? reset : ErrorCode.REFUSED;
            drop(stream);
            events.add(complete
                    ? new StreamClosed(stream.id)
                    : new StreamReset(stream.id, how, TUNNEL_LOST, HOP_TUNNEL,
                            "the tunnel's connection ended"));
        }
        headReader.release();
        outbox.clear(byPeer ? null : new Frame.GoAway(code, lastAccepted(), 0, detail));
        events.add(new Closed(code, detail, byPeer));
    }
}
