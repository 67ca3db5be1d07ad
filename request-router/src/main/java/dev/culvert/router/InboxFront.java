package dev.culvert.router;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.routing.Router;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.SecretFiles;
import java.net.InetAddress;

/**
 * The inbox in front of the router in the same process. Requests on durable routes pass through it. A webhook
 * that one of {@code inboxPeers} marks as stored in its own inbox is not stored again. The listener has
 * removed such marks of other peers.
 */
final class InboxFront implements Relay {
    /** The only runtime. */
    static final String RUNTIME = "router";

    private final Inbox inbox;
    private final Router router;
    private final SecretFiles secrets;
    private volatile Rules rules;

    /** The state that depends on the router's configuration. */
    private record Rules(InboxRelay.Target target, ForwardingRules callers) {}

    InboxFront(Inbox inbox, Router router, SecretFiles secrets) {
        this.inbox = inbox;
        this.router = router;
        this.secrets = secrets;
        this.rules = rules(router.config());
    }

    private Rules rules(RoutingConfig config) {
        var target = new InboxRelay.Target(RUNTIME, config.durableRoutes(),
                (runtime, route) -> secrets.of(route),
                Hop.ROUTER);
        return new Rules(target, new ForwardingRules(ForwardingRules.newPseudonym(),
                config.trustedProxies().stream().map(Cidr::parse).toList()));
    }

    /** Delivers the webhooks of an inbox to the router, which is always reachable. */
    static Delivery to(Router router) {
        return new Delivery() {
            @Override
            public Relay relayTo(String runtimeId) {
                return router;
            }

            @Override
            public boolean isReachable(String runtimeId) {
                return true;
            }
        };
    }

    /** As {@link Router#replace}; must not run on an event loop. A failure changes nothing. */
    void replace(RoutingConfig config, String origin) {
        Rules next = rules(config);
        router.replace(config, origin);
        rules = next;
        inbox.reachable(RUNTIME); // the new policy may allow webhooks that were refused
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Rules now = rules;
        InetAddress caller = now.callers.caller(request.fields());
        return new InboxRelay(inbox.intake(), now.target, caller, true, router).open(request, response);
    }
}
