package dev.culvert.relay.inbound;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.relay.exchange.DeadCallerDetector;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.HandshakeGate;
import dev.culvert.relay.listen.RelayListener;
import dev.culvert.relay.tls.CloseNotifyHold;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The listener for callers: HTTP/1.1 and HTTP/2. */
public final class EdgeListener {
    /**
     * Above the high mark the caller's socket counts as full, and its response is not acknowledged any more.
     */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);

    /** The time for a frame in transfer to end, and for a Close to be sent. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final RelayListener listener;

    private EdgeListener(RelayListener listener) {
        this.listener = listener;
    }

    /** Binds. Errors: {@link dev.culvert.http.net.ListenException}. */
    public static Mono<EdgeListener> start(HostPort address, Entrance entrance, EdgeContext context,
            EventLoops loops) {
        var gate = new HandshakeGate(HandshakeGate.MAX_HANDSHAKES,
                context.limits().maxConnectionsPerAddress()).shown(context.telemetry(), "edge");
        return RelayListener
                .start(address, loops, gate, entrance.senders(),
                        channel -> init(channel, entrance, context))
                .map(EdgeListener::new);
    }

    private static void init(Channel channel, Entrance entrance, EdgeContext context) {
        channel.pipeline().addLast(HandlerNames.DEAD_CALLER, new DeadCallerDetector(context.memory()));
        if (!entrance.isPlain()) {
            channel.pipeline().addLast(HandlerNames.CLOSE_NOTIFY, new CloseNotifyHold());
        }
        if (!entrance.open(channel)) {
            channel.close();
            return;
        }
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        channel.pipeline()
                .addLast(HandlerNames.PROTOCOL,
                        entrance.isPlain() ? new PlainEdgeProtocol(context) : new EdgeProtocol(context));
    }

    public RelayListener listener() {
        return listener;
    }

    public int connections() {
        return listener.connections().count();
    }

    public HostPort address() {
        return listener.address();
    }

    /**
     * Stops accepting and waits up to {@code grace} for the connections to close. Then WebSockets get Close
     * 1001 at a frame boundary, and unfinished responses are reset.
     */
    public Mono<Void> stop(Duration grace) {
        return listener.stop(grace, LAST_WORDS);
    }
}
