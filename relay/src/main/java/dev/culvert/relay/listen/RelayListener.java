package dev.culvert.relay.listen;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import dev.culvert.http.net.DiscardAccounts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.KeepAlive;
import dev.culvert.http.net.ListenException;
import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.tcp.TcpServer;

/**
 * A Reactor Netty listener whose connections run plain Netty handlers; it removes the reactive bridge from
 * their pipelines.
 */
public final class RelayListener {
    /** The user event that asks a connection to close after its present exchange. */
    public static final Object DRAIN = new Object();

    /** The user event that asks a connection to close now, in the middle of an exchange too. */
    public static final Object CUT = new Object();

    private static final int BACKLOG = 4096;

    private final DisposableServer server;
    private final OpenConnections connections;

    private RelayListener(DisposableServer server, OpenConnections connections) {
        this.server = server;
        this.connections = connections;
    }

    /**
     * Binds. {@code init} fills the pipeline of each connection that {@code gate} admits. Errors:
     * {@link ListenException}.
     */
    public static Mono<RelayListener> start(HostPort address, EventLoops loops, HandshakeGate gate,
            Consumer<Channel> init) {
        return start(address, loops, gate, null, init);
    }

    /**
     * Binds behind balancers that send PROXY headers. {@code gate} then accounts by the addresses in the
     * headers.
     */
    public static Mono<RelayListener> start(HostPort address, EventLoops loops, HandshakeGate gate,
            @Nullable ProxySenders senders, Consumer<Channel> init) {
        OpenConnections connections = new OpenConnections();
        DiscardAccounts discards = new DiscardAccounts();
        Consumer<Channel> admitted = channel -> open(channel, gate, discards, init);
        return TcpServer.create()
                .runOn(loops)
                .bindAddress(() -> new InetSocketAddress(address.host(), address.port()))
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .doOnChannelInit((observer, channel, remote) -> {
                    channel.pipeline().remove(NettyPipeline.ReactiveBridge);
                    KeepAlive.bound(channel);
                    channel.config().setRecvByteBufAllocator(new ReadSize());
                    connections.add(channel);
                    if (senders == null) {
                        admitted.accept(channel);
                    } else {
                        await(channel, senders, () -> admitted.accept(channel));
                    }
                })
                .bind()
                .map(server -> new RelayListener(server, connections))
                .onErrorMap(e -> new ListenException(address,
                        Reason.of(e.getCause() == null ? e : e.getCause())));
    }

    private static void await(Channel channel, ProxySenders senders, Runnable open) {
        if (channel.remoteAddress() instanceof InetSocketAddress remote
                && senders.peers().include(remote.getAddress())) {
            channel.pipeline()
                    .addLast(HandlerNames.PROXY_HEADER, new ProxyHeaderReader(senders.patience(), open));
            channel.config().setAutoRead(true);
        } else {
            channel.close();
        }
    }

    private static void open(Channel channel, HandshakeGate gate, DiscardAccounts discards,
            Consumer<Channel> init) {
        SourceAddress source = SourceAddress.of(CallerAddress.of(channel));
        if (!gate.admit(source, channel)) {
            channel.close();
            return;
        }
        discards.keep(channel, source);
        init.accept(channel);
        Future<?> handshake = Entrance.handshake(channel);
        if (handshake != null) {
            channel.pipeline()
                    .addFirst(HandlerNames.HANDSHAKE_SLOT, new HandshakeSlot(gate, source, handshake));
        }
        channel.config().setAutoRead(true);
    }

    public HostPort address() {
        return HostPort.of((InetSocketAddress) server.address());
    }

    /** The open connections, without those that were handed over to another set. */
    public OpenConnections connections() {
        return connections;
    }

    /** Stops accepting connections. */
    public void refuse() {
        server.dispose();
    }

    /**
     * Stops accepting and waits up to {@code grace} for the connections to close. Then asks the rest to
     * close, and closes those that are left after {@code lastWords}.
     */
    public Mono<Void> stop(Duration grace, Duration lastWords) {
        return Mono.<Void>fromRunnable(server::dispose).then(connections.end(grace, lastWords));
    }
}
