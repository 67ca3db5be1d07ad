package dev.culvert.relay.upstream;

import java.time.Duration;

/**
 * What upstream connections may use. Counts are per event loop: connections never leave theirs.
 *
 * @param connections open connections, to all upstreams together
 * @param connectionsPerUpstream open connections to one upstream
 * @param idlePerUpstream kept connections without an exchange, to one upstream
 * @param waiting exchanges that wait for a connection, for all upstreams together; more are refused
 * @param connectTimeout for name resolution, connection and TLS handshake each, and for waiting for a connection
 * @param headTimeout from the last request byte forwarded to the response head
 * @param idleTimeout of a kept connection
 */
public record UpstreamLimits(int connections, int connectionsPerUpstream, int idlePerUpstream, int waiting,
        Duration connectTimeout, Duration headTimeout, Duration idleTimeout) {

    public UpstreamLimits {
        if (connections < 1 || connectionsPerUpstream < 1 || idlePerUpstream < 0 || waiting < 0) {
            throw new IllegalArgumentException("connections " + connections + ", " + connectionsPerUpstream
                    + " per upstream (expected: 1 or more), " + idlePerUpstream + " idle, " + waiting
                    + " waiting (expected: 0 or more)");
        }
    }

    /**
     * 2048 connections, 1024 per upstream (a runtime has at most 1000 streams), 256 kept idle for 30 s (most servers cut
     * them at 60 s), 512 waiting; 5 s to connect, 60 s to the response head.
     */
    public static UpstreamLimits defaults() {
        return new UpstreamLimits(2048, 1024, 256, 512, Duration.ofSeconds(5), Duration.ofSeconds(60),
                Duration.ofSeconds(30));
    }
}
