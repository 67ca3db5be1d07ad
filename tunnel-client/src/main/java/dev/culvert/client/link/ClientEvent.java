package dev.culvert.client.link;

/**
 * An event of a client, for an embedding program or the operator. Delivered on an event loop; the receiver
 * must not block.
 */
public sealed interface ClientEvent {
    /**
     * The first session of a tunnel is live.
     *
     * @param runtime {@code account/name}
     * @param host the runtime host
     * @param generation the generation of the instance
     */
    record Connected(String runtime, String host, long generation) implements ClientEvent {}

    /**
     * Another instance owns the runtime, and this one waits until the server promotes it.
     *
     * @param runtime {@code account/name}
     * @param host the runtime host
     * @param generation the generation of the owner
     * @param priority the priority of this instance among those that wait
     */
    record Waiting(String runtime, String host, long generation, int priority) implements ClientEvent {}

    /**
     * The last session has ended. The client dials again by itself.
     *
     * @param reason the reason, for an operator
     */
    record Disconnected(String reason) implements ClientEvent {}

    /**
     * A dial has failed while there is no live session. The client dials again by itself.
     *
     * @param reason the reason, for an operator
     */
    record NotConnected(String reason) implements ClientEvent {}
}
