package dev.culvert.client.link;

/** What an embedding program, or the operator, may want to know of a client. Told on an event loop: do not block. */
public sealed interface ClientEvent {
    /**
     * The first session of a tunnel is live.
     *
     * @param runtime {@code account/name}
     * @param host the runtime host
     * @param generation of the instance
     */
    record Connected(String runtime, String host, long generation) implements ClientEvent {}

    /**
     * The last session is gone; the client dials again by itself.
     *
     * @param reason for an operator
     */
    record Disconnected(String reason) implements ClientEvent {}
}
