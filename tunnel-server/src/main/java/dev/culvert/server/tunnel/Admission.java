package dev.culvert.server.tunnel;

/** What becomes of a client's connection. */
public sealed interface Admission {
    /** Its instance owns the tunnel; the session is registered. */
    record Serves(LiveSession session) implements Admission {}

    /**
     * Another instance owns the tunnel; the session is registered as waiting.
     *
     * @param owned the generation of the owner
     */
    record Waits(WaitingSession session, long owned) implements Admission {}

    /** Another instance owns the tunnel, and the connection can't wait. */
    record Refused(String reason) implements Admission {}
}
