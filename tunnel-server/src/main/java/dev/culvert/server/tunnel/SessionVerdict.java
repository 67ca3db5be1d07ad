package dev.culvert.server.tunnel;

/** What becomes of a client's connection. */
public sealed interface SessionVerdict {
    /** Its instance owns the tunnel; the session is registered. */
    record Serves(LiveSession session) implements SessionVerdict {}

    /**
     * Another instance owns the tunnel; the session is registered as waiting.
     *
     * @param owned the generation of the owner
     */
    record Waits(WaitingSession session, long owned) implements SessionVerdict {}

    /** Another instance owns the tunnel, and the connection can't wait. */
    record Refused(String reason) implements SessionVerdict {}
}
