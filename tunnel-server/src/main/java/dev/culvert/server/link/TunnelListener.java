package dev.culvert.server.link;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.inbound.EdgeListener;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.HandshakeFairness;
import dev.culvert.relay.listen.HandshakeGate;
import dev.culvert.relay.listen.OpenConnections;
import dev.culvert.relay.listen.RelayListener;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Where tunnel clients come in, for {@code /tunnel/v1} and what is below it: a listener of their own, or the edge's, of which
 * their connections are kept apart.
 */
public final class TunnelListener {
    /** One batch at most waits behind the one that the socket is taking (docs/protocol.md §7). */
    static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);
    /** What may sit in the kernel in front of a head. */
    static final int NOT_SENT_LOW_WATER = 128 << 10;

    private final RelayListener listener;
    private final OpenConnections connections;

    private TunnelListener(RelayListener listener, OpenConnections connections) {
        this.listener = listener;
        this.connections = connections;
    }

    /** On the edge's listener. {@code connections} are those that come in by its {@link TunnelUpgrade}. */
    public static TunnelListener within(EdgeListener edge, OpenConnections connections) {
        return new TunnelListener(edge.listener(), connections);
    }

    /** Binds; takes {@code maxPerAddress} connections of one address. Errors: {@link dev.culvert.http.net.ListenException}. */
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

    /** Keeps queues short, in front of heads and pings. */
    static void tune(Channel channel) {
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, (long) NOT_SENT_LOW_WATER);
        }
    }

    private static void init(Channel channel, Entrance entrance, TunnelHandshake.Shared shared) {
        if (!entrance.open(channel)) {
            channel.close();
            return;
        }
        tune(channel);
        HandshakeFairness.begin(channel);
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.addLast(new HttpServerCodec(new HttpDecoderConfig().setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true)));
        pipeline.addLast(new EnrolmentBodies());
        pipeline.addLast(new TunnelHandshake(shared, entrance.isPlain()));
    }

    public int connections() {
        return connections.count();
    }

    public HostPort address() {
        return listener.address();
    }

    /** Accepts no more connections. */
    public void refuse() {
        listener.refuse();
    }

    public Mono<Void> stop(Duration grace) {
        return Mono.<Void>fromRunnable(listener::refuse).then(connections.end(grace, Duration.ZERO));
    }
}
