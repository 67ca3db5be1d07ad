package dev.culvert.server.link;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.http.net.PairedResponseEncoder;
import dev.culvert.relay.inbound.EdgeListener;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.HandshakeFairness;
import dev.culvert.relay.listen.HandshakeGate;
import dev.culvert.relay.listen.OpenConnections;
import dev.culvert.relay.listen.RelayListener;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * The listener of tunnel clients, for {@code /tunnel/v1} and the paths below it. It is their own listener, or
 * the edge's with the tunnel connections counted apart.
 */
public final class TunnelListener {
    /** Clients' targets have a tenth of that. */
    private static final int MAX_TARGET = 4096;
    private static final int MAX_HEAD = 8192;

    private final RelayListener listener;
    private final OpenConnections connections;

    private TunnelListener(RelayListener listener, OpenConnections connections) {
        this.listener = listener;
        this.connections = connections;
    }

    /**
     * Uses the edge's listener. {@code connections} holds the connections that its {@link TunnelUpgrade}
     * accepts.
     */
    public static TunnelListener within(EdgeListener edge, OpenConnections connections) {
        return new TunnelListener(edge.listener(), connections);
    }

    /**
     * Binds. Accepts at most {@code maxPerAddress} connections of one address. Errors: {@link
     * dev.culvert.http.net.ListenException}.
     */
    public static Mono<TunnelListener> start(HostPort address, Entrance entrance,
            TunnelHandshake.Shared shared,
            int maxPerAddress, EventLoops loops) {
        var gate = new HandshakeGate(HandshakeGate.MAX_HANDSHAKES, maxPerAddress)
                .shown(shared.telemetry(), "tunnel");
        return RelayListener
                .start(address, loops, gate, entrance.senders(),
                        channel -> init(channel, entrance, shared))
                .map(listener -> new TunnelListener(listener, listener.connections()));
    }

    private static void init(Channel channel, Entrance entrance, TunnelHandshake.Shared shared) {
        if (!entrance.open(channel)) {
            channel.close();
            return;
        }
        HandshakeFairness.begin(channel);
        ChannelPipeline pipeline = channel.pipeline();
        var encoder = new PairedResponseEncoder();
        pipeline.addLast(HandlerNames.HTTP1_DECODER,
                new JudgedRequestDecoder(MAX_TARGET, MAX_HEAD, encoder::requested));
        pipeline.addLast(HandlerNames.HTTP1_ENCODER, encoder);
        TunnelHandshake.add(pipeline, shared, entrance.isPlain());
    }

    public int connections() {
        return connections.count();
    }

    public HostPort address() {
        return listener.address();
    }

    /** Stops accepting connections. */
    public void refuse() {
        listener.refuse();
    }

    public Mono<Void> stop(Duration grace) {
        return Mono.<Void>fromRunnable(listener::refuse).then(connections.end(grace, Duration.ZERO));
    }
}
