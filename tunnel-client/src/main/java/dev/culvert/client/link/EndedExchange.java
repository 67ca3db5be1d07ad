package dev.culvert.client.link;

/**
 * A forwarded request that has ended.
 *
 * @param method {@code GET}; {@code CONNECT} for a raw connection
 * @param target path and query as the caller sent them; the server name of a raw connection
 * @param status the status that the caller got; 0 if it left first
 * @param reason why the gateway answered in place of the upstream, or cut its answer; empty if it did neither
 * @param nanos the time from the head of the request to the end of the response
 */
public record EndedExchange(String method, String target, int status, String reason, long nanos) {
    /** Receives exchanges on event loops, so it must not block. */
    @FunctionalInterface
    public interface Listener {
        void ended(EndedExchange exchange);
    }
}
