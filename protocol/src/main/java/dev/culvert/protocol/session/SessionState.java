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
import org.jspecify.annotations.Nullable;

/** What {@link Session}'s commands and {@link Arrivals} share: the streams, and the ways in which they and the session end. */
final class SessionState {
    enum Phase {
        OPENING, LIVE, CLOSED
    }

    /** docs/protocol.md §10: cause "tunnel-lost" and hop "tunnel", for the streams of a session that ends. */
    private static final int TUNNEL_LOST = 7;
    static final int HOP_TUNNEL = 2;

    final Role role;
    final Hello local;
    final SessionLimits limits;
    final Limits accepts;
    final Heartbeat heartbeat;
    final Outbox outbox;
    final HeadReader headReader;
    final IntObjectMap<StreamState> streams = new IntObjectHashMap<>();
    final ArrayDeque<SessionEvent> events = new ArrayDeque<>();

    Phase phase = Phase.OPENING;
    @Nullable
    Hello peer;
    int lastStreamId;
    boolean goAwaySent;
    boolean goAwayReceived;
    long unconsumedBytes;

    SessionState(Role role, Hello local, SessionLimits limits, long nowNanos) {
        this.role = role;
        this.local = local;
        this.limits = limits;
        this.accepts = local.limits();
        this.heartbeat = new Heartbeat(limits, nowNanos);
        Heads heads = new Heads(accepts);
        this.outbox = new Outbox(heads);
        this.headReader = new HeadReader(heads, accepts.headBytes());
    }

    /** Treats a fault that was found while decoding like one found here. */
    void fail(ProtocolException e) {
        if (e.streamId() == 0) {
            end(e.code(), e.getMessage(), false);
        } else {
            StreamState stream = streams.get(e.streamId());
            resetOnWire(e.streamId(), e.code(), 0, HOP_TUNNEL, "");
            if (stream != null) {
                drop(stream);
                events.add(new StreamReset(e.streamId(), e.code(), 0, HOP_TUNNEL,
                        Objects.toString(e.getMessage(), "")));
            }
        }
    }

    Hello peer() {
        return Objects.requireNonNull(peer);
    }

    int lastAccepted() {
        return role == Role.CLIENT ? lastStreamId : 0;
    }

    void resetOnWire(int streamId, ErrorCode code, int cause, int hop, String detail) {
        if (outbox.pendingResets() >= limits.pendingResets()) {
            end(ErrorCode.OVERLOADED, "too many resets wait for the socket", false);
        } else {
            outbox.control(new Frame.Reset(streamId, code, cause, hop, detail));
        }
    }

    void closeIfDone(StreamState stream) {
        if (stream.isClosed() && streams.remove(stream.id) != null) {
            events.add(new StreamClosed(stream.id));
        }
    }

    void drop(StreamState stream) {
        streams.remove(stream.id);
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
        for (StreamState stream : new ArrayList<>(streams.values())) {
            drop(stream);
            events.add(new StreamReset(stream.id, code == ErrorCode.NO_ERROR ? ErrorCode.FAILED : code,
                    TUNNEL_LOST,
                    HOP_TUNNEL, "the tunnel's connection ended"));
        }
        headReader.release();
        outbox.clear(byPeer ? null : new Frame.GoAway(code, lastAccepted(), 0, detail));
        events.add(new Closed(code, detail, byPeer));
    }
}
