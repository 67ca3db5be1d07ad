package dev.culvert.server.runtime;

import dev.culvert.server.tunnel.LiveSession;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The live tunnels, for control code. Callable from any thread; never blocks; results are snapshots. */
public interface TunnelDirectory {
    /** Every live session. */
    List<SessionView> sessions();

    /** The live sessions of one runtime; empty when it has none. */
    List<SessionView> sessionsOf(String runtimeId);

    /** The clients of one runtime that wait because another one serves it. */
    List<WaitingClient> waitingFor(String runtimeId);

    /** The state of the runtime's tunnel; {@link TunnelState#DISCONNECTED} for an unknown runtime. */
    TunnelState stateOf(String runtimeId);

    /** When the runtime lost its last session; null: it has one, or had none since the server started. */
    @Nullable
    Instant lostAt(String runtimeId);

    /**
     * Drains one session: opens no more streams, asks its client to connect again, and closes the session
     * when the streams in flight have ended, at the latest after {@link LiveSession#DRAIN_GRACE}. Returns
     * false when no session has this id.
     */
    boolean drain(String sessionId);

    /** Closes one session at once. Returns false when no session has this id. */
    boolean close(String sessionId);

    /**
     * Closes every session of a runtime at once, and forgets that it was connected. Held requests are woken,
     * and no more are held.
     *
     * @param reason a sentence for the client's operator
     */
    void closeAll(String runtimeId, String reason);
}
