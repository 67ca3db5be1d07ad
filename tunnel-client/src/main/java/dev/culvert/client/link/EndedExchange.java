package dev.culvert.client.link;

/**
 * A forwarded request that has ended.
 *
 * @param method {@code GET}; {@code CONNECT} for a raw connection
 * @param target path and query as the caller sent them; the server name of a raw connection
 * @param status the status that the caller got; 0 if it left first
 * @param reason why the gateway answered in place of the upstream, or cut its answer, possibly with an
 *     address of the upstream; empty if it did neither
 * @param nanos the time from the head of the request to the end of the response
 * @param host the host that the caller asked for
 * @param requestId the request's {@code X-Request-Id}, which the server's log has too
 */
public record EndedExchange(String method, String target, int status, String reason, long nanos, String host,
        String requestId) {
    /** An exchange without a host and an id. */
    public EndedExchange(String method, String target, int status, String reason, long nanos) {
        this(method, target, status, reason, nanos, "", "");
    }

    /** Receives exchanges on event loops, so it must not block. */
    @FunctionalInterface
    public interface Listener {
        void ended(EndedExchange exchange);
    }
}
