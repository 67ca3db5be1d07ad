package dev.culvert.server.page;

/**
 * Whether the runtime that a page waits for has appeared.
 *
 * @param runtime its name
 * @param state its state
 */
public record EnrolmentState(String runtime, RuntimeState state) {
    public boolean isConnected() {
        return state == RuntimeState.CONNECTED;
    }
}
