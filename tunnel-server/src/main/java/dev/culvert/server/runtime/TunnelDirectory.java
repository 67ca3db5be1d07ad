package dev.culvert.server.runtime;

import dev.culvert.server.tunnel.LiveSession;
import java.util.List;

/**
 * The live tunnels, as control code sees them. Callable from any thread; nothing blocks; what is returned is a
 * snapshot.
 */
public interface TunnelDirectory {
    /** Every live session. */
    List<SessionView> sessions();

    /** The live sessions of one runtime; empty when it has none. */
    List<SessionView> sessionsOf(String runtimeId);

    /** The clients of one runtime that wait because another one serves it. */
    List<WaitingClient> waitingFor(String runtimeId);

    /** How the runtime's tunnel is; {@link TunnelState#DISCONNECTED} for a runtime never heard of. */
    TunnelState stateOf(String runtimeId);

    /**
     * Opens no more streams in one session, tells its client to connect anew, and closes it when those in flight have
     * ended, after {@link LiveSession#DRAIN_GRACE} in any case. False when there is none of this id.
     */
    boolean drain(String sessionId);

    /** Closes one session at once. False when there is none of this id. */
    boolean close(String sessionId);

    /**
     * Closes every session of a runtime at once, and forgets that it was connected: no request waits for it any more.
     *
     * @param reason a sentence for the client's operator
     */
    void closeAll(String runtimeId, String reason);
}
