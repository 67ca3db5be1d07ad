package dev.culvert.relay.upstream;

import java.time.Duration;

/**
 * The limits of upstream connections. Counts are for each event loop, because connections never leave theirs.
 *
 * @param connections the maximum number of open connections to all upstreams together
 * @param connectionsPerUpstream the maximum number of open connections to one upstream
 * @param idlePerUpstream the maximum number of idle connections kept for one upstream
 * @param waiting the maximum number of exchanges that wait for a connection, for all upstreams together; more
 *     are refused
 * @param connectTimeout the maximum time for each of name resolution, connect and TLS handshake, and for the
 *     wait for a connection
 * @param headTimeout the maximum time from the last request byte forwarded to the response head
 * @param idleTimeout the time for which an idle connection is kept
 * @param headBytes the maximum number of bytes of a response's head
 * @param headFields the maximum number of fields of a response's head
 */
public record UpstreamLimits(int connections, int connectionsPerUpstream, int idlePerUpstream, int waiting,
        Duration connectTimeout, Duration headTimeout, Duration idleTimeout, int headBytes, int headFields) {
    /**
     * The default limits of heads: four times what nginx takes with its large buffers (32 KiB). A tunnel
     * takes a little more (docs/protocol.md §12), because heads grow on their way.
     */
    public static final int HEAD_BYTES = 128 << 10;
    public static final int HEAD_FIELDS = 256;

    public UpstreamLimits {
        if (connections < 1 || connectionsPerUpstream < 1 || idlePerUpstream < 0 || waiting < 0) {
            throw new IllegalArgumentException("connections " + connections + ", " + connectionsPerUpstream
                    + " per upstream (expected: 1 or more), " + idlePerUpstream + " idle, " + waiting
                    + " waiting (expected: 0 or more)");
        }
    }

    /** Limits with those of heads that are usual. */
    public UpstreamLimits(int connections, int connectionsPerUpstream, int idlePerUpstream, int waiting,
            Duration connectTimeout, Duration headTimeout, Duration idleTimeout) {
        this(connections, connectionsPerUpstream, idlePerUpstream, waiting, connectTimeout, headTimeout,
                idleTimeout, HEAD_BYTES, HEAD_FIELDS);
    }

    /** These limits with others of heads. */
    public UpstreamLimits heads(int bytes, int fields) {
        return new UpstreamLimits(connections, connectionsPerUpstream, idlePerUpstream, waiting,
                connectTimeout,
                headTimeout, idleTimeout, bytes, fields);
    }

    /**
     * The defaults: 2048 connections, 1024 for each upstream (a runtime has at most 1000 streams), 256 kept
     * idle for 30 s (most servers close them at 60 s), 512 waiting; 5 s to connect, 60 s to the response
     * head.
     */
    public static UpstreamLimits defaults() {
        return new UpstreamLimits(2048, 1024, 256, 512, Duration.ofSeconds(5), Duration.ofSeconds(60),
                Duration.ofSeconds(30));
    }
}
