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
 * The inbox in front of the router of the same process: durable routes go through it. What one of {@code inboxPeers} says its own
 * inbox has stored is not stored again; the listener has dropped what anybody else says.
 */
final class InboxFront implements Relay {
    /** The one runtime that there is. */
    static final String RUNTIME = "router";

    private final Inbox inbox;
    private final Router router;
    private final SecretFiles secrets;
    private volatile Rules rules;

    /** What holds for one configuration of the router. */
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

    /** Where webhooks of an inbox go: to the router, which is always there. */
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

    /** As {@link Router#replace}: not for an event loop. Failing changes nothing. */
    void replace(RoutingConfig config, String origin) {
        Rules next = rules(config);
        router.replace(config, origin);
        rules = next;
        inbox.reachable(RUNTIME); // what the policy refused may be allowed now
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Rules now = rules;
        InetAddress caller = now.callers.caller(request.fields());
        return new InboxRelay(inbox, now.target, caller, true, router).open(request, response);
    }
}
