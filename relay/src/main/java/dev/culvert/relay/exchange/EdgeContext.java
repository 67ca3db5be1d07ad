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
        EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, EdgeReporting reports,
        MemoryBudget memory,
        List<Cidr> inboxPeers) {
    /** How long an idle connection stays open when the server drains. */
    public static final Duration DRAIN_IDLE = Duration.ofSeconds(1);

    public EdgeContext {
        inboxPeers = List.copyOf(inboxPeers);
    }

    /** One whose callers mark nothing. */
    public EdgeContext(EdgeRuntimes runtimes, ForwardingRules rules, CallerLimits limits, Telemetry telemetry,
            EdgeMeters meters, AsciiString scheme, @Nullable TunnelWay door, EdgeReporting reports,
            MemoryBudget memory) {
        this(runtimes, rules, limits, telemetry, meters, scheme, door, reports, memory, List.of());
    }

    /** What all requests of a connection share, with the version of HTTP as {@code Via} writes it. */
    public ForwardingRules.Peer peer(Channel channel, String version) {
        return rules.peer(CallerAddress.judged(channel), scheme.toString(), CallerAddress.port(channel),
                version);
    }

    /** Who answers a request, whose fields are made ready for that. Throws EdgeException when nobody does. */
    EdgeRuntimes.RuntimeEndpoint route(EdgeRequestHead head, ForwardingRules.Peer peer) {
        EdgeRuntimes.RuntimeEndpoint runtime = runtimes.byHost(head.host());
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
