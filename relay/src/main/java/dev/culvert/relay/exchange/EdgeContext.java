package dev.culvert.relay.exchange;

import dev.culvert.http.forwarding.CallerFields;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.listen.CallerAddress;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import io.netty.channel.Channel;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state shared by all connections of a listener.
 *
 * @param scheme {@code https}; {@code http} if a balancer has ended TLS
 * @param door the way to the tunnel, on a listener that also serves tunnel clients; null: none
 * @param reporting the reports about each request
 * @param memory the memory budget of bodies
 * @param inboxPeers the only peers that may mark a webhook as already stored in an inbox of their own;
 *     usually none
 */
public record EdgeContext(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits,
        Telemetry telemetry,
        EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, EdgeReporting reporting,
        MemoryBudget memory,
        List<Cidr> inboxPeers) {
    /** The time for which an idle connection stays open when the server drains. */
    public static final Duration DRAIN_IDLE = Duration.ofSeconds(1);

    public EdgeContext {
        inboxPeers = List.copyOf(inboxPeers);
    }

    /** Creates a context without inbox peers. */
    public EdgeContext(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits, Telemetry telemetry,
            EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, EdgeReporting reporting,
            MemoryBudget memory) {
        this(runtimes, rules, limits, telemetry, meters, scheme, door, reporting, memory, List.of());
    }

    /**
     * Returns the properties shared by all requests of a connection, with the HTTP version as {@code Via}
     * writes it.
     */
    public ForwardingRules.Peer peer(Channel channel, String version) {
        return rules.peer(CallerAddress.judged(channel), scheme.toString(), CallerAddress.port(channel),
                version);
    }

    /**
     * Returns the runtime of a request, and prepares the request's fields for forwarding. Throws
     * EdgeException if no runtime has the host.
     */
    EdgeRuntimes.RuntimeEndpoint route(EdgeRequestHead head, ForwardingRules.Peer peer) {
        EdgeRuntimes.RuntimeEndpoint runtime = runtimes.byHost(head.host());
        if (runtime == null) { // first, so that requests for unknown hosts cost no work on their fields
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
