package dev.culvert.router;

import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.observe.Readiness;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.inbound.EdgeListener;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.Router;
import dev.culvert.routing.RouterAuditFiles;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A router in its own pod: the callers' listener in front of a {@link Router}, for any host, and optional
 * listeners for operators. Several can run in one JVM.
 */
public final class RouterServer {
    private static final Logger log = LoggerFactory.getLogger(RouterServer.class);
    /**
     * The time in which balancers notice that the router is not ready. A balancer checks about every second;
     * callers that it sends until then are served.
     */
    private static final Duration BALANCERS_SEE = Duration.ofSeconds(2);
    /** The time in which the last responses on the operators' listener are sent. */
    private static final Duration LAST_WORDS = Duration.ofMillis(500);
    private static final String HEALTH = """
            Culvert request-router: this listener is for probes and metrics; requests to route go to another one.
            /healthz  200 while the process lives
            /readyz   200 while it takes requests, else 503 and why
            /metrics  for Prometheus""";
    private static final EdgeHandler NOTHING_ELSE = request -> Mono
            .error(HandlerException.of(HandlerException.Reason.NOT_FOUND, "there is nothing at this path"));

    private final RouterParts parts;
    private final List<String> trustedProxies;
    private final AtomicReference<Readiness> readiness;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Sinks.Empty<Void> stopped = Sinks.empty();
    private @Nullable EdgeListener callers;
    private @Nullable EdgeServer operators;
    private @Nullable EdgeServer admin;

    private RouterServer(RouterParts parts, List<String> trustedProxies,
            AtomicReference<Readiness> readiness) {
        this.parts = parts;
        this.trustedProxies = trustedProxies;
        this.readiness = readiness;
    }

    /**
     * Starts a router. A failure leaves no open resources. Errors: {@link
     * dev.culvert.http.net.ListenException} if an address can't be bound, {@link
     * dev.culvert.certs.CertsException} for an unusable file, {@link dev.culvert.store.StoreException} for an
     * unusable data folder.
     */
    public static Mono<RouterServer> start(RouterConfig config) {
        return Mono.defer(() -> {
            var readiness = new AtomicReference<>(Readiness.notReady("starting"));
            return RouterParts.load(config, readiness::get).flatMap(parts -> {
                RouterServer server = new RouterServer(parts, config.trustedProxies(), readiness);
                return server.listen(config)
                        .onErrorResume(e -> server.stop(Duration.ZERO).then(Mono.error(e)));
            });
        });
    }

    private Mono<RouterServer> listen(RouterConfig config) {
        warn(config);
        return listenForOperators(config.health())
                .then(Mono.defer(() -> listenForCalls(config.admin())))
                .then(EdgeListener.start(config.listen(), parts.entrance(), parts.edge(), parts.loops()))
                .map(started -> {
                    callers = started;
                    readiness.set(Readiness.READY);
                    return this;
                });
    }

    private Mono<EdgeServer> listenForOperators(RouterConfig.@Nullable Health config) {
        return config == null
                ? Mono.empty()
                : EdgeServer.apart(own -> EdgeServer.Setup.of(config.listen(), own)
                        .filter(new HealthFilter(parts.troubledBy(readiness::get), parts.telemetry())
                                .about(HEALTH)),
                        NOTHING_ELSE)
                        .doOnNext(started -> operators = started);
    }

    private Mono<EdgeServer> listenForCalls(RouterConfig.@Nullable Admin config) {
        Inbox inbox = parts.inbox();
        RouterAuditFiles audit = parts.audit();
        return config == null || inbox == null || audit == null
                ? Mono.empty()
                : RouterAdmin.start(config, parts.adminTls(), inbox.webhooks(), audit, parts.telemetry())
                        .doOnNext(started -> admin = started);
    }

    private static void warn(RouterConfig config) {
        if (config.dataDir() == null
                && config.routing().effectiveRoutes().stream().anyMatch(RouteConfig::durable)) {
            log.atWarn()
                    .addKeyValue("key", "dataDir")
                    .log("webhooks are delivered directly, not stored: there is no dataDir");
        }
    }

    /**
     * Applies other routes, policy and addresses. All other settings change only with a restart, also the
     * trusted proxies, because the listener uses them. Running exchanges continue. Reads the files of
     * certificate authorities, so it must not run on an event loop.
     *
     * @param origin the origin of the change for the audit log, which is the file's name
     */
    public void reload(RouterConfig changed, String origin) {
        if (!changed.trustedProxies().equals(trustedProxies)) {
            log.atWarn()
                    .addKeyValue("key", "trustedProxies")
                    .log("not applied: this setting changes only with a restart");
        }
        parts.replace(changed.routing().behind(trustedProxies), origin);
    }

    /** The address of the callers' listener. */
    public HostPort address() {
        return Objects.requireNonNull(callers).address();
    }

    /** The address of the operators' listener for health and metrics; null if there is none. */
    public @Nullable HostPort healthAddress() {
        EdgeServer listener = operators;
        return listener == null ? null : listener.address();
    }

    /** The address of the admin listener for calls on the inbox; null if there is none. */
    public @Nullable HostPort adminAddress() {
        EdgeServer listener = admin;
        return listener == null ? null : listener.address();
    }

    /** The number of open connections of callers. */
    public int connections() {
        return Objects.requireNonNull(callers).connections();
    }

    /** The number of bytes that wait in exchanges with upstreams. */
    public long bufferedBytes() {
        return parts.router().bufferedBytes();
    }

    /** The inbox with the stored webhooks; null without a {@code dataDir}. This server owns it. */
    public @Nullable Inbox inbox() {
        return parts.inbox();
    }

    /**
     * Drains the router. Readiness becomes false. Callers are accepted until balancers have noticed that;
     * then connections are asked to close. Exchanges in progress have {@code grace} to end, then all
     * connections are closed. A repeated stop waits for the first one. Never fails.
     */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            if (stopping.compareAndSet(false, true)) {
                readiness.set(Readiness.notReady("draining"));
                shutDown(grace).subscribe(nothing -> {}, stopped::tryEmitError, stopped::tryEmitEmpty);
            }
            return stopped.asMono();
        });
    }

    private Mono<Void> shutDown(Duration grace) {
        EdgeListener listener = callers;
        EdgeServer health = operators;
        Duration tenth = grace.dividedBy(10);
        Duration seen = tenth.compareTo(BALANCERS_SEE) < 0 ? tenth : BALANCERS_SEE;
        Mono<Void> callersDone = listener == null
                ? Mono.empty()
                : Mono.delay(seen).then(listener.stop(grace.minus(seen)));
        Inbox inbox = parts.inbox();
        Mono<Void> deliveriesDone = inbox == null || grace.isZero()
                ? Mono.empty()
                : inbox.release().timeout(grace, Mono.empty());
        return Mono.when(callersDone, deliveriesDone)
                .then(Mono.when(stopped(health), stopped(admin)))
                .then(parts.close());
    }

    private static Mono<Void> stopped(@Nullable EdgeServer listener) {
        return listener == null ? Mono.empty() : listener.stop(LAST_WORDS);
    }
}
