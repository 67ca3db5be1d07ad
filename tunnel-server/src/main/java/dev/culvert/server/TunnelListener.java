package dev.culvert.server;

import dev.culvert.edge.EventLoops;
import dev.culvert.edge.config.HostPort;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The listener for tunnel clients: {@code /tunnel/v1} and {@code /tunnel/v1/enrol}. */
final class TunnelListener {
    /** One batch at most waits behind the one that the socket is taking (docs/protocol.md §7). */
    static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);
    /** What may sit in the kernel in front of a head. */
    static final int NOT_SENT_LOW_WATER = 128 << 10;

    private final RelayListener listener;

    private TunnelListener(RelayListener listener) {
        this.listener = listener;
    }

    /** Binds; takes {@code maxPerAddress} connections of one address. Errors: {@link dev.culvert.edge.ListenException}. */
    static Mono<TunnelListener> start(HostPort address, SslContext tls, TunnelHandshake.Shared shared,
            int maxPerAddress, EventLoops loops) {
        var gate = new HandshakeGate(HandshakeGate.MAX_HANDSHAKES, maxPerAddress)
                .shown(shared.telemetry(), "tunnel");
        return RelayListener.start(address, loops, gate, channel -> init(channel, tls, shared))
                .map(TunnelListener::new);
    }

    private static void init(Channel channel, SslContext tls, TunnelHandshake.Shared shared) {
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, (long) NOT_SENT_LOW_WATER);
        }
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.addLast(tls.newHandler(channel.alloc()));
        pipeline.addLast(new HttpServerCodec(new HttpDecoderConfig().setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true)));
        pipeline.addLast(new EnrolmentBodies());
        pipeline.addLast(new TunnelHandshake(shared));
    }

    int connections() {
        return listener.connections();
    }

    HostPort address() {
        return listener.address();
    }

    /** Accepts no more connections. */
    void refuse() {
        listener.refuse();
    }

    Mono<Void> stop(Duration grace) {
        return listener.stop(grace, Duration.ZERO);
    }
}
