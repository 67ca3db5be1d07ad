package dev.culvert.server;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.relay.Relay;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.server.link.ServerSession;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.AnnouncedRoutes;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreBackup;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.TunnelRegistry;
import dev.culvert.server.tunnel.TunnelRelay;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Connects the inbox to the server's tunnels: passes webhooks to the inbox, and notifies the inbox of
 * sessions and announced routes.
 */
final class Webhooks implements ServerSession.Told {
    private static final Logger log = LoggerFactory.getLogger(Webhooks.class);
    /** The time in which the lease is released. */
    private static final Duration LAST = Duration.ofMillis(500);
    private static final Problem DELETED = Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "the runtime was deleted");

    private final Inbox inbox;
    private final AnnouncedRoutes announced;

    private Webhooks(Inbox inbox, AnnouncedRoutes announced) {
        this.inbox = inbox;
        this.announced = announced;
    }

    /**
     * Opens the inbox below a data folder. Errors: {@link dev.culvert.store.StoreException}.
     *
     * @param loops the event loops of deliveries without a waiting caller
     */
    static Mono<Webhooks> open(Path dataDir, InboxConfig config, SqliteRuntimeStore store, Delivery delivery,
            EventLoopGroup loops, Telemetry telemetry, Clock clock) {
        return store.announcements()
                .flatMap(announced -> Inbox
                        .open(new InboxSetup(dataDir.resolve(StoreBackup.INBOX_FOLDER), config, delivery,
                                loops,
                                telemetry.registry(), clock))
                        .map(inbox -> new Webhooks(inbox, announced)));
    }

    /** Publishes the events of webhooks to the watchers of {@code events}, until disposed. */
    Disposable tell(ServerEvents events, RuntimeStore store, Clock clock) {
        return inbox.webhooks().events().filter(any -> events.isHeard()).subscribe(event -> {
            RegisteredRuntime runtime = store.byId(event.runtimeId());
            events.publish(new ServerEvent.OfWebhook(clock.instant(), runtime == null ? null : runtime.name(),
                    event));
        });
    }

    /** Delivers each webhook into the tunnel of its runtime. */
    static Delivery into(RuntimeStore store, TunnelRegistry registry, RuntimeQuotas quotas) {
        return new Delivery() {
            @Override
            public Relay relayTo(String runtimeId) {
                RegisteredRuntime runtime = store.byId(runtimeId);
                return runtime == null
                        ? (request, response) -> TunnelRelay.fail(response, DELETED)
                        : new TunnelRelay(registry, runtime, quotas.of(runtimeId, runtime.limits()));
            }

            @Override
            public boolean isReachable(String runtimeId) {
                return registry.isReachable(runtimeId);
            }
        };
    }

    Inbox inbox() {
        return inbox;
    }

    /** The relay to a runtime with the inbox in front of its tunnel. */
    Relay inFrontOf(Relay tunnel, RegisteredRuntime runtime) {
        return (request, response) -> {
            DurableRoutes routes = announced.of(runtime.id()); // they change without the runtime
            var target = new InboxRelay.Target(runtime.id(), routes, WebhookSecrets.SHARED, Hop.EDGE);
            InetAddress caller = request.caller().address();
            return new InboxRelay(inbox.intake(), target, caller, false, tunnel).open(request, response);
        };
    }

    @Override
    public void live(RegisteredRuntime runtime) {
        inbox.reachable(runtime.id());
    }

    @Override
    public void announced(RegisteredRuntime runtime, byte[] document) {
        // The new policy may allow webhooks that the old one refused.
        announced.announced(runtime, document, () -> inbox.reachable(runtime.id()));
    }

    /**
     * Releases the inbox to the next server, once the deliveries under way have ended or {@code grace} is
     * over. Completes empty.
     */
    Mono<Void> release(Duration grace) {
        return Mono.defer(inbox::release).timeout(grace.plus(LAST), Mono.empty());
    }

    /** Forgets the webhooks and routes of a deleted runtime. Returns at once. */
    void forget(RegisteredRuntime runtime) {
        announced.forget(runtime.id());
        inbox.webhooks()
                .forget(runtime.id())
                .subscribe(nothing -> {}, failed -> log.atWarn()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("reason", failed.getMessage())
                        .log("webhooks of a deleted runtime could not be deleted"));
    }
}
