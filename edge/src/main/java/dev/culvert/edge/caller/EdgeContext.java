package dev.culvert.edge.caller;

import dev.culvert.edge.Cidr;
import dev.culvert.edge.EdgeException;
import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.listen.CallerAddress;
import io.netty.channel.Channel;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of a listener share.
 *
 * @param scheme {@code https}; {@code http} where a balancer has ended TLS
 * @param door for tunnel clients, on a listener that serves them, too
 * @param reports what is told about each request
 * @param memory what bodies may take up
 * @param inboxPeers who is believed that an inbox of its own has stored a webhook; usually nobody
 */
public record EdgeContext(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits,
        Telemetry telemetry,
        EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, Reports reports,
        MemoryBudget memory,
        List<Cidr> inboxPeers) {
    /** How long an idle connection stays open when the server drains. */
    public static final Duration DRAIN_IDLE = Duration.ofSeconds(1);

    public EdgeContext {
        inboxPeers = List.copyOf(inboxPeers);
    }

    /** One whose callers mark nothing. */
    public EdgeContext(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits, Telemetry telemetry,
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
