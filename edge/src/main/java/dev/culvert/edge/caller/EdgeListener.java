package dev.culvert.edge.caller;

import dev.culvert.edge.Cidr;
import dev.culvert.edge.EdgeException;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.listen.CallerAddress;
import dev.culvert.edge.listen.Entrance;
import dev.culvert.edge.listen.HandshakeGate;
import dev.culvert.edge.listen.RelayListener;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The listener for callers: HTTP/1.1 and HTTP/2. */
public final class EdgeListener {
    /** How long an idle connection stays open when the server drains. */
    public static final Duration DRAIN_IDLE = Duration.ofSeconds(1);

    /** Above this the caller's socket is full, and its response is not acknowledged any more. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);

    /** For a frame that is on its way to end, and a Close to leave. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final RelayListener listener;

    /**
     * What all connections share.
     *
     * @param scheme {@code https}; {@code http} where a balancer has ended TLS
     * @param door for tunnel clients, on a listener that serves them, too
     * @param reports what is told about each request
     * @param memory what bodies may take up
     * @param inboxPeers who is believed that an inbox of its own has stored a webhook; usually nobody
     */
    public record Shared(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits,
            Telemetry telemetry,
            EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, Reports reports,
            MemoryBudget memory,
            List<Cidr> inboxPeers) {
        public Shared {
            inboxPeers = List.copyOf(inboxPeers);
        }

        /** One whose callers mark nothing. */
        public Shared(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits, Telemetry telemetry,
                EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, Reports reports,
                MemoryBudget memory) {
            this(runtimes, rules, limits, telemetry, meters, scheme, door, reports, memory, List.of());
        }

        /** What all requests of a connection share, with the version of HTTP as {@code Via} writes it. */
        ForwardingRules.Peer peer(Channel channel, String version) {
            return rules.peer(CallerAddress.judged(channel), scheme.toString(), CallerAddress.port(channel),
                    version);
        }

        /** Who answers a request, whose fields are made ready for that. Throws EdgeException when nobody does. */
        EdgeRuntimes.Answerer route(EdgeRequestHead head, ForwardingRules.Peer peer) {
            EdgeRuntimes.Answerer runtime = runtimes.byHost(head.host());
            if (runtime == null) { // first: strangers' fields are no work then
                throw new EdgeException(
                        Problem.of(Cause.UNKNOWN_HOST, Hop.EDGE, "no runtime has this host"));
            }
            CallerFields.remove(head.fields(), peer.isIn(inboxPeers));
            Problem refused = rules.request(head.fields(), peer, head.host(), head.upgrade());
            if (refused != null) {
                throw new EdgeException(refused);
            }
            return runtime;
        }
    }

    private EdgeListener(RelayListener listener) {
        this.listener = listener;
    }

    /** Binds. Errors: {@link dev.culvert.edge.ListenException}. */
    public static Mono<EdgeListener> start(HostPort address, Entrance entrance, Shared shared,
            EventLoops loops) {
        var gate = new HandshakeGate(HandshakeGate.MAX_HANDSHAKES,
                shared.limits().maxConnectionsPerAddress()).shown(shared.telemetry(), "edge");
        return RelayListener
                .start(address, loops, gate, entrance.senders(),
                        channel -> init(channel, entrance, shared))
                .map(EdgeListener::new);
    }

    private static void init(Channel channel, Entrance entrance, Shared shared) {
        channel.pipeline().addLast(new GoneCaller(shared.memory()));
        if (!entrance.open(channel)) {
            channel.close();
            return;
        }
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        if (entrance.isPlain()) {
            channel.pipeline().addLast(new PlainEdgeProtocol(shared));
        } else {
            channel.pipeline().addLast(new EdgeProtocol(shared));
        }
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
     * Stops accepting; waits up to {@code grace} for connections to end. Of the rest, WebSockets get Close 1001 where a frame
     * may stand, unfinished responses are reset.
     */
    public Mono<Void> stop(Duration grace) {
        return listener.stop(grace, LAST_WORDS);
    }
}
