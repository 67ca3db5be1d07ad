package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A runtime's tunnel: its sessions, owner and generation. Changed under its own lock, read on any thread. */
final class Tunnel {
    static final LiveSession[] NONE = {};

    volatile LiveSession[] sessions = NONE;
    volatile long generation;
    volatile @Nullable Instant lost;
    /** Guarded by the tunnel. */
    final WaitingClients refused = new WaitingClients();
    /** Guarded by the tunnel. */
    final Ownership ownership = new Ownership(new LocalWaitingInstances());
    /** The sessions that wait, by instance; replaced as a whole. */
    volatile Map<UUID, WaitingSession> standby = Map.of();
    /**
     * Whether the registry has dropped this tunnel. A thread that found it before must look it up again.
     * Guarded by the tunnel.
     */
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

    /**
     * Makes room for one more session; returns false when there is none. When too many sessions drain, the
     * oldest are closed, since they have had the most time. The sessions next in line close their WebSockets,
     * each at the end of a frame.
     */
    boolean makeRoom() {
        List<LiveSession> all = new ArrayList<>(List.of(sessions));
        List<LiveSession> draining = all.stream().filter(session -> !session.isAccepting()).toList();
        if (all.size() - draining.size() >= TunnelRegistry.MAX_SESSIONS) {
            return false;
        }
        int excess = draining.size() - TunnelRegistry.MAX_DRAINING;
        if (excess > 0) {
            for (LiveSession oldest : draining.subList(0, excess)) {
                oldest.close(ErrorCode.DRAINING, "newer connections need its place");
                all.remove(oldest);
            }
            sessions = all.toArray(NONE);
        }
        int next = draining.size() - TunnelRegistry.MAX_DRAINING + TunnelRegistry.NEXT_TO_END;
        draining.stream()
                .limit(Math.max(0, next))
                .skip(Math.max(0, excess))
                .forEach(LiveSession::closeWebSockets);
        return true;
    }

    /** Whether a session of the instance takes streams. */
    boolean serves(UUID instance) {
        for (LiveSession session : sessions) {
            if (session.isAccepting() && session.isOf(instance)) {
                return true;
            }
        }
        return false;
    }

    /** Whether another session of the same instance takes streams. */
    boolean servesBeside(LiveSession one) {
        for (LiveSession session : sessions) {
            if (!session.equals(one) && session.isAccepting() && session.isOf(one.hello)) {
                return true;
            }
        }
        return false;
    }

    /** Adds a session that waits. Returns the earlier one of its instance, or null. */
    @Nullable
    WaitingSession await(WaitingSession session) {
        Map<UUID, WaitingSession> all = new LinkedHashMap<>(standby);
        WaitingSession before = all.put(session.instance, session);
        standby = Map.copyOf(all);
        return before;
    }

    /** Removes a session that waits no more. Returns false if it was not there. */
    boolean forget(WaitingSession session) {
        Map<UUID, WaitingSession> all = new LinkedHashMap<>(standby);
        boolean was = all.remove(session.instance, session);
        standby = Map.copyOf(all);
        return was;
    }
}
