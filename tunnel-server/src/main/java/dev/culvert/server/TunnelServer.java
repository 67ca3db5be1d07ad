package dev.culvert.server;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.handlers.server.HostFilter;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.inbound.EdgeListener;
import dev.culvert.relay.inbound.raw.RawListener;
import dev.culvert.server.link.TunnelListener;
import dev.culvert.store.StoreException;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/**
 * The tunnel server: edge, tunnel and admin listeners over one store. Several can run in one JVM, each with
 * its own data folder.
 */
public final class TunnelServer {
    private static final Logger log = LoggerFactory.getLogger(TunnelServer.class);
    /** The grace for the tunnels after the callers' connections have ended. */
    private static final Duration TUNNEL_GRACE = Duration.ofSeconds(2);
    /**
     * The time for which callers leave before the tunnels do. Callers that move first, while this server
     * still has the tunnels, find fewer requests held at the other server.
     */
    private static final Duration CALLERS_FIRST = EdgeContext.DRAIN_IDLE.plusMillis(100);
    /**
     * The period over which tunnel clients are drained, so that they do not all dial the other server at
     * once.
     */
    private static final Duration SPREAD = Duration.ofSeconds(10);

    /**
     * The same, when the next server has begun to listen. Callers who arrive there are held for 5 s at most,
     * and have arrived there for 3.6 s before the first client goes.
     */
    private static final Duration SPREAD_HANDED_OVER = Duration.ofMillis(1400);

    /** The time for which the release of the database may keep this server ready. */
    private static final Duration RELEASE = Duration.ofSeconds(1);

    /** The time in which a server that waits for the database takes it. */
    private static final Duration SUCCESSOR_TAKES = Duration.ofSeconds(2);

    /** The longest start of the next server for which this one stays ready. */
    private static final Duration SUCCESSOR_STARTS = Duration.ofSeconds(10);

    /**
     * The time in which balancers notice that the next server is ready, before they may notice that this one
     * is not.
     */
    private static final Duration SUCCESSOR_SEEN = Duration.ofMillis(500);

    /**
     * The period over which tunnel clients are asked to bring their spare connections to the next server.
     * Callers who arrive there are held for 5 s at most.
     */
    private static final Duration SPREAD_SPARES = Duration.ofSeconds(3);

    /**
     * The time in which balancers notice that this server is not ready; they probe about once a second.
     * Callers that arrive until then are served.
     */
    private static final Duration BALANCERS_SEE = Duration.ofSeconds(2);

    /** The time in which the admin listener sends its last responses and events. */
    private static final Duration LAST_WORDS = Duration.ofMillis(500);

    private final ServerParts parts;
    private @Nullable EdgeListener edge;
    private @Nullable RawListener raw;
    private @Nullable TunnelListener tunnel;
    private @Nullable EdgeServer admin;
    private final Disposable.Composite following = Disposables.composite();
    private volatile Duration spread = SPREAD;
    private volatile Readiness readiness = Readiness.notReady("starting");

    private TunnelServer(ServerParts parts) {
        this.parts = parts;
    }

    /**
     * Starts a server. A cancelled or failed start releases everything. Errors: {@link
     * dev.culvert.http.net.ListenException} when an address is taken, {@link
     * dev.culvert.certs.CertsException} for a file that can't be used, {@link StoreException}.
     */
    public static Mono<TunnelServer> start(ServerConfig config) {
        return start(config, List.of());
    }

    /**
     * As above.
     *
     * @param shown the configuration as operators see it, secrets masked: {@link ConfigBinding#effective}
     */
    public static Mono<TunnelServer> start(ServerConfig config, List<ConfigBinding.Effective> shown) {
        return ServerParts.load(config, shown).flatMap(parts -> {
            TunnelServer server = new TunnelServer(parts);
            return server.listen(config).onErrorResume(e -> server.stop(Duration.ZERO).then(Mono.error(e)));
        });
    }

    private Mono<TunnelServer> listen(ServerConfig config) {
        EventLoops loops = parts.loops();
        Mono<EdgeServer> adminStart = EdgeServer
                .apart(own -> adminSetup(config, own)
                        .telemetry(parts.telemetry())
                        .filter(new HostFilter(AllowedHosts.of(config.admin().hosts()), "admin.hosts"))
                        .filter(new HealthFilter(
                                () -> readiness.but(parts.webhooks().inbox().intake().trouble()),
                                parts.telemetry())
                                .calledBy(AllowedHosts.of(config.admin().hosts()))),
                        parts.admin());
        return adminStart.doOnNext(started -> admin = started)
                .then(config.shared() ? Mono.empty() : listenForTunnels(config))
                .then(EdgeListener.start(config.edge().listen(), parts.security().edge(), parts.edge(),
                        loops))
                .doOnNext(started -> {
                    edge = started;
                    parts.urls().listening(started.address().port());
                    if (config.shared()) {
                        tunnel = TunnelListener.within(started, parts.sharedTunnels());
                    }
                })
                .then(listenForRaw(config.tcp()))
                .then(Mono.fromRunnable(() -> readiness = Readiness.READY))
                .then(Mono.defer(this::tellPredecessor))
                .thenReturn(this);
    }

    private EdgeServer.Setup adminSetup(ServerConfig config, LoopResources loops) {
        EdgeServer.Setup plain = EdgeServer.Setup.of(config.admin().listen(), loops);
        SslContext tls = parts.security().admin();
        if (tls == null && !config.admin().listen().isLoopback()) {
            log.atWarn()
                    .addKeyValue("listen", config.admin().listen())
                    .addKeyValue("expected", "admin.tls, or a loopback address")
                    .log("the admin listener sends tokens in the clear: the page has no log-in for other machines");
        }
        return tls == null ? plain : plain.tls(tls);
    }

    private Mono<Void> tellPredecessor() {
        return parts.store()
                .serving()
                .doOnError(failed -> log.atWarn()
                        .addKeyValue("reason", failed.getMessage())
                        .log("the server before this one can't see that this one listens"))
                .onErrorComplete();
    }

    private Mono<RawListener> listenForRaw(ServerConfig.@Nullable Tcp config) {
        return config == null
                ? Mono.empty()
                : RawListener.start(config.listen(), parts.edge(), parts.loops())
                        .doOnNext(started -> raw = started);
    }

    private Mono<TunnelListener> listenForTunnels(ServerConfig config) {
        return TunnelListener
                .start(config.tunnel().listen(), parts.security().tunnel(), parts.handshake(),
                        config.edge().limits().maxConnectionsPerAddress(), parts.loops())
                .doOnNext(started -> tunnel = started);
    }

    /** The address of the listener for callers. */
    public HostPort edgeAddress() {
        return Objects.requireNonNull(edge).address();
    }

    /** The address of the listener for raw connections; null: there is none. */
    public @Nullable HostPort tcpAddress() {
        RawListener listener = raw;
        return listener == null ? null : listener.address();
    }

    /** The address of the listener for tunnel clients. */
    public HostPort tunnelAddress() {
        return Objects.requireNonNull(tunnel).address();
    }

    /** The address of the admin listener. */
    public HostPort adminAddress() {
        return Objects.requireNonNull(admin).address();
    }

    /** The number of open connections of callers. */
    public int edgeConnections() {
        return Objects.requireNonNull(edge).connections();
    }

    /** The number of open connections of tunnel clients. */
    public int tunnelConnections() {
        return Objects.requireNonNull(tunnel).connections();
    }

    /** The event loops of the traffic. The admin listener has its own. */
    EventLoops loops() {
        return parts.loops();
    }

    /** The number of open streams in all tunnels. */
    public long streams() {
        return parts.meter().streams();
    }

    /** The number of bytes buffered in all tunnels: {@code culvert_buffered_bytes}. */
    public long bufferedBytes() {
        return parts.meter().bufferedBytes();
    }

    /**
     * Errors with {@link StoreException.Held} when another server has taken over the database. Never
     * completes.
     */
    public Mono<Void> ended() {
        return parts.store().lost();
    }

    /**
     * Drains the server. The database is released for the next server. If one waits for it, this server stays
     * ready until that one listens, for a bounded time. Then readiness turns off. Callers and tunnels are
     * accepted until balancers have noticed; then the listeners close, and callers are asked to close their
     * connections. After the callers, tunnel clients are asked to connect elsewhere. Webhooks are delivered
     * here as long as the clients are connected. Exchanges in flight have {@code grace} to end; then
     * everything closes.
     */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            long began = System.nanoTime();
            parts.events().stopping();
            return parts.store()
                    .release()
                    .timeout(grace.isZero() ? RELEASE : shorter(grace.dividedBy(10), RELEASE), Mono.empty())
                    .onErrorComplete()
                    .then(Mono.fromRunnable(this::followSuccessor))
                    .then(grace.isZero() ? Mono.empty() : handOver(grace))
                    .then(Mono.defer(() -> drain(grace.minus(Duration.ofNanos(System.nanoTime() - began)))))
                    .then(Mono.defer(() -> end(grace.isZero() ? grace : TUNNEL_GRACE)))
                    .doFinally(signal -> following.dispose());
        });
    }

    /**
     * Completes when balancers should send their callers to the next server. From the moment that it listens,
     * callers arrive at both servers, so each tunnel gets a session there, too.
     */
    private Mono<Void> handOver(Duration grace) {
        return parts.store()
                .succeeded(shorter(grace.dividedBy(10), SUCCESSOR_TAKES),
                        shorter(grace.dividedBy(3), SUCCESSOR_STARTS))
                .onErrorReturn(false)
                .flatMap(listens -> listens ? Mono.defer(this::shareTunnels) : Mono.empty());
    }

    private Mono<Void> shareTunnels() {
        spread = SPREAD_HANDED_OVER;
        following.add(parts.registry().drainSpares(SPREAD_SPARES).subscribe());
        return Mono.delay(SUCCESSOR_SEEN).then();
    }

    private Mono<Void> drain(Duration left) {
        readiness = Readiness.notReady("draining");
        Duration grace = left.isNegative() ? Duration.ZERO : left;
        Duration seen = shorter(grace.dividedBy(10), BALANCERS_SEE);
        return Mono.delay(seen).then(Mono.defer(() -> close(grace.minus(seen))));
    }

    /** Closes the listeners, and ends callers, and then tunnels. */
    private Mono<Void> close(Duration grace) {
        EdgeListener callers = edge;
        RawListener rawCallers = raw;
        TunnelListener tunnels = tunnel;
        if (tunnels != null) {
            tunnels.refuse(); // drained clients must dial another server
        }
        Mono<Void> callersDone = callers == null ? Mono.empty() : callers.stop(grace);
        Mono<Void> rawDone = rawCallers == null ? Mono.empty() : rawCallers.stop(grace);
        Duration before = shorter(grace, CALLERS_FIRST);
        Mono<Void> clientsGo = Mono.delay(before).then(Mono.defer(() -> parts.registry().drainAll(spread)));
        Mono<Void> webhooksGo = Mono.delay(before)
                .then(Mono.defer(() -> parts.webhooks().release(grace.minus(before))));
        return Mono.when(callersDone, rawDone, clientsGo, webhooksGo);
    }

    private Mono<Void> end(Duration tunnelGrace) {
        TunnelListener tunnels = tunnel;
        EdgeServer operators = admin;
        return (tunnels == null ? Mono.<Void>empty() : tunnels.stop(tunnelGrace))
                .then(Mono.fromRunnable(parts.events()::end))
                .then(Mono.fromRunnable(parts.requests()::end))
                .then(Mono.fromRunnable(parts.admin()::close))
                .then(operators == null ? Mono.empty() : operators.stop(LAST_WORDS))
                .then(parts.close());
    }

    /** Disconnects the runtimes that the next server revokes or deletes. */
    private void followSuccessor() {
        following.add(parts.store()
                .endedBySuccessor()
                .subscribe(gone -> parts.registry()
                        .closeAll(gone.id(), "the runtime " + gone.name() + " was deleted or revoked")));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
