package dev.culvert.server;

import dev.culvert.protocol.frame.ErrorCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A runtime's tunnel: its sessions, owner and generation. Changed under its own lock, read on any thread. */
final class Tunnel {
    static final LiveSession[] NONE = {};

    volatile LiveSession[] sessions = NONE;
    volatile long generation;
    volatile @Nullable Instant lost;
    /** Guarded by the tunnel. */
    final WaitingClients waiting = new WaitingClients();
    /** Forgotten: who found it before that must look again. Guarded by the tunnel. */
    boolean forgotten;

    void add(LiveSession session) {
        List<LiveSession> all = new ArrayList<>(List.of(sessions));
        all.add(session);
        sessions = all.toArray(NONE);
        lost = null;
    }

    void remove(LiveSession session, Instant now) {
        List<LiveSession> all = new ArrayList<>(List.of(sessions));
        if (all.remove(session)) {
            sessions = all.toArray(NONE);
            lost = all.isEmpty() ? now : null;
        }
    }

    /** Whether there is room for one more, or could be made: of the sessions that drain, the oldest has had the most time. */
    boolean makeRoom() {
        if (sessions.length < TunnelRegistry.MAX_SESSIONS) {
            return true;
        }
        for (LiveSession session : sessions) {
            if (!session.isAccepting()) {
                session.close(ErrorCode.DRAINING, "newer connections need its place");
                List<LiveSession> left = new ArrayList<>(List.of(sessions));
                left.remove(session);
                sessions = left.toArray(NONE);
                return true;
            }
        }
        return false;
    }

    @Nullable
    LiveSession owner() {
        for (LiveSession session : sessions) {
            if (session.isAccepting() && session.generation == generation) {
                return session;
            }
        }
        return null;
    }
}
