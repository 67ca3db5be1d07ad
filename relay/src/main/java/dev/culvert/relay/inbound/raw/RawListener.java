package dev.culvert.relay.inbound.raw;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.RawSocket;
import dev.culvert.relay.exchange.DeadCallerDetector;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.listen.HandshakeGate;
import dev.culvert.relay.listen.RelayListener;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * The listener for raw connections, which are forwarded by the server name of their TLS handshake. Nothing is
 * decrypted.
 */
public final class RawListener {
    /**
     * The same as the edge's. Above the high mark the caller's socket counts as full, and no more bytes are
     * acknowledged.
     */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);
    /** The time for resets to be sent, which takes no wait. */
    private static final Duration LAST_WORDS = Duration.ofMillis(200);

    private final RelayListener listener;

    private RawListener(RelayListener listener) {
        this.listener = listener;
    }

    /**
     * Binds.
     *
     * @param shared the edge's runtimes, limits and telemetry. Errors:
     *     {@link dev.culvert.http.net.ListenException}
     */
    public static Mono<RawListener> start(HostPort address, EdgeContext shared, EventLoops loops) {
        var gate = new HandshakeGate(HandshakeGate.MAX_HANDSHAKES,
                shared.limits().maxConnectionsPerAddress()).shown(shared.telemetry(), "tcp");
        return RelayListener.start(address, loops, gate, channel -> init(channel, shared))
                .map(RawListener::new);
    }

    private static void init(Channel channel, EdgeContext shared) {
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        RawSocket.prepare(channel);
        channel.pipeline()
                .addLast(HandlerNames.DEAD_CALLER, new DeadCallerDetector(shared.memory()))
                .addLast(HandlerNames.RAW, new RawConnection(shared, channel));
    }

    public HostPort address() {
        return listener.address();
    }

    /** The number of open connections. */
    public int connections() {
        return listener.connections().count();
    }

    /** Stops accepting, waits up to {@code grace} for connections to close, and resets the rest. */
    public Mono<Void> stop(Duration grace) {
        return listener.stop(grace, LAST_WORDS);
    }
}
