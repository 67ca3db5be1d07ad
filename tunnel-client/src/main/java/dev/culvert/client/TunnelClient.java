package dev.culvert.client;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Connector;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.dial.OpenSessions;
import dev.culvert.client.dial.Outbound;
import dev.culvert.client.dial.OutboundProxy;
import dev.culvert.client.identity.Backoff;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.client.identity.EnrolmentRetry;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.client.link.EndedExchange;
import dev.culvert.client.link.ForwardedLine;
import dev.culvert.client.link.IdentityRenewal;
import dev.culvert.client.link.TunnelLinks;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.exchange.AccessLog;
import dev.culvert.routing.RouterAuditFiles;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * A tunnel client. Obtains an identity, dials, keeps the tunnel up, and forwards its streams. It retries for
 * ever, unless its enrolment is refused for good while it has no identity. Many can run in one JVM on shared
 * event loops.
 */
public final class TunnelClient {
    private static final Logger log = LoggerFactory.getLogger(TunnelClient.class);

    private static final String HEALTH = """
            Culvert tunnel-client: this listener is for probes, metrics and culvert client status.
            /healthz  200 while the process lives
            /readyz   200 while a session is established, else 503 and why
            /metrics  for Prometheus
            /status   what culvert client status shows, as JSON
            /pause, /pause/now, /resume  by POST""";
    private static final String EMBEDDER = "embedding program";
    private static final String WAITING = "waiting";

    private final ClientConfig config;
    private final EventLoops loops;
    private final boolean ownsLoops;
    private final Telemetry telemetry = new Telemetry();
    private final Connector connector;
    private final OpenSessions sessions = new OpenSessions(Clock.systemUTC());
    private final RouterAuditFiles audit;
    private final @Nullable AccessLog accessLog;
    private final TunnelLinks links;
    private final KillSwitch killSwitch;
    private final Consumer<ClientEvent> events;
    private final Sinks.Empty<Void> ended = Sinks.empty();
    private final Sinks.Empty<Void> stopped = Sinks.empty();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private @Nullable EdgeServer health;
    private final Disposable.Swap enrolling = Disposables.swap();
    private volatile @Nullable IdentityRenewal renewal;
    private volatile @Nullable String host;
    private volatile String notReady = "not connected yet";

    private TunnelClient(ClientConfig config, EventLoops loops, boolean ownsLoops,
            Consumer<ClientEvent> events, EndedExchange.@Nullable Listener exchanges) {
        this.config = config;
        this.loops = loops;
        this.ownsLoops = ownsLoops;
        this.events = events;
        this.connector = new Connector(loops, Outbound.of(config));
        this.audit = RouterAuditFiles.in(config.identityDir());
        this.accessLog = config.accessLog() ? AccessLog.start(telemetry) : null;
        this.links = new TunnelLinks(config, loops, new Dialler(connector, sessions), telemetry, audit,
                event -> {
                    told(event);
                    events.accept(event);
                }, observers(accessLog, exchanges));
        this.killSwitch = new KillSwitch(links, new PauseMark(config.identityDir()), audit);
        killSwitch.remember();
    }

    /** Who receives the end of each exchange; null: nobody. */
    private static EndedExchange.@Nullable Listener observers(@Nullable AccessLog log,
            EndedExchange.@Nullable Listener exchanges) {
        if (log == null) {
            return exchanges;
        }
        return exchange -> {
            log.add(ForwardedLine.of(exchange, Instant.now()));
            if (exchanges != null) {
                exchanges.ended(exchange);
            }
        };
    }

    /**
     * Starts a client with its health listener. Emits when the listener is open, before the tunnel is up.
     * Errors: {@link dev.culvert.http.net.ListenException}.
     *
     * @param events receives connects and disconnects, on an event loop
     */
    public static Mono<TunnelClient> start(ClientConfig config, Consumer<ClientEvent> events) {
        return start(config, events, null);
    }

    /**
     * The same, for a user who watches the requests.
     *
     * @param exchanges receives the end of each exchange; null: nobody does, and none is observed
     */
    public static Mono<TunnelClient> start(ClientConfig config, Consumer<ClientEvent> events,
            EndedExchange.@Nullable Listener exchanges) {
        return Mono.defer(() -> {
            TunnelClient client = new TunnelClient(config, EventLoops.create(), true, events, exchanges);
            var resources = new ControlResource(Map.of("/pause",
                    by -> client.killSwitch.pause(by, TunnelLinks.GRACE), "/pause/now",
                    by -> client.killSwitch.pause(by, Duration.ZERO), "/resume", client.killSwitch::resume),
                    new StatusResource(client::status));
            return EdgeServer
                    .apart(own -> EdgeServer.Setup.of(config.health().listen(), own)
                            .filter(new HealthFilter(client::readiness, client.telemetry).about(HEALTH)),
                            resources)
                    .map(started -> {
                        client.health = started;
                        client.connect();
                        return client;
                    })
                    .onErrorResume(e -> client.stop(Duration.ZERO).then(Mono.error(e)));
        });
    }

    /** Starts a client without a health listener. The caller disposes the event loops. */
    public static TunnelClient embed(ClientConfig config, EventLoops loops, Consumer<ClientEvent> events) {
        TunnelClient client = new TunnelClient(config, loops, false, events, null);
        client.connect();
        return client;
    }

    private void connect() {
        Clock clock = Clock.systemUTC();
        IdentitySource source = new IdentitySource(config, loops, connector,
                IdentitySource.link(config).shown(telemetry), clock);
        enrolling.update(source.identity()
                .flatMap(identity -> identity.expiredAt(clock.instant())
                        ? revived(source, identity)
                        : Mono.just(identity))
                .publishOn(Schedulers.boundedElastic())
                .map(source::credentials)
                .doOnError(failure -> notEnrolled(String.valueOf(failure.getMessage())))
                .retryWhen(new EnrolmentRetry(new Backoff(new SecureRandom())))
                .subscribe(
                        first -> begin(new IdentityRenewal(source, clock, first, links)),
                        failure -> {
                            notReady = String.valueOf(failure.getMessage());
                            ended.tryEmitError(failure);
                        }));
    }

    /**
     * Renews a certificate that has expired while this client was off. It must be renewed before the first
     * dial, which would otherwise be refused. Fails if a server asks to wait; the caller waits and retries.
     */
    private static Mono<Identity> revived(IdentitySource source, Identity ended) {
        return source.renewed(ended).onErrorResume(TunnelClient::saysNothingOfLater, error -> {
            log.atWarn().addKeyValue("reason", error.getMessage()).log("expired certificate not renewed");
            return Mono.just(ended);
        });
    }

    private static boolean saysNothingOfLater(Throwable error) {
        return error instanceof EnrolmentException
                && !(error instanceof EnrolmentException.Failed failed && failed.retryAfter() != null);
    }

    /**
     * Starts renewal and dials, unless the client was stopped: {@link #shutDown} takes the same lock after it
     * sets that state.
     */
    private synchronized void begin(IdentityRenewal identities) {
        if (stopping.get()) {
            return;
        }
        renewal = identities;
        identities.start();
        links.start(identities::current, identities::refused,
                Duration.ofMillis(ThreadLocalRandom.current().nextLong(200)));
    }

    private void told(ClientEvent event) {
        switch (event) {
            case ClientEvent.Connected connected -> host = connected.host();
            case ClientEvent.Waiting waiting -> host = waiting.host();
            case ClientEvent.Disconnected disconnected -> sessions.failed(disconnected.reason());
            case ClientEvent.NotConnected failed -> {
                // The dialler has noted it.
            }
        }
    }

    private void notEnrolled(String reason) {
        sessions.failed(reason);
        events.accept(new ClientEvent.NotConnected(reason));
    }

    private ClientStatus status() {
        IdentityRenewal identities = renewal;
        Identity identity = identities == null ? null : identities.current().identity();
        OutboundProxy proxy = connector.proxyFor(Dialler.address(config.server().getFirst()));
        Long since = links.waitingSinceMillis();
        return new ClientStatus(state(identity),
                identity == null ? null : identity.client().account() + "/" + identity.client().runtime(),
                host, identity == null ? null : identity.expires(), proxy == null ? null : proxy.toString(),
                sessions.views(), sessions.lastFailure(), since == null ? null : Instant.ofEpochMilli(since),
                config.standby().priority());
    }

    private String state(@Nullable Identity identity) {
        if (stopping.get()) {
            return "draining";
        }
        if (links.isPaused()) {
            return "paused";
        }
        if (links.isWaiting()) {
            return WAITING;
        }
        return links.isLive() ? "connected" : identity == null ? "enrolling" : "connecting";
    }

    private Readiness readiness() {
        if (links.isPaused() && !stopping.get()) {
            return Readiness.notReady("paused by an operator; culvert client resume ends that");
        }
        if (links.isWaiting() && !stopping.get()) {
            return Readiness.ready(WAITING);
        }
        if (links.isLive()) {
            return Readiness.READY;
        }
        OpenSessions.Failure last = sessions.lastFailure();
        return Readiness.notReady(last == null || stopping.get() ? notReady : last.reason());
    }

    /** The address of the health listener. Only for clients that were started with one. */
    public HostPort healthAddress() {
        return Objects.requireNonNull(health, "an embedded client has no health listener").address();
    }

    /** Whether a session is established and its server responds. */
    public boolean isLive() {
        return links.isLive();
    }

    /** Whether another instance owns the runtime, and this one waits until the server promotes it. */
    public boolean isWaiting() {
        return links.isWaiting();
    }

    /**
     * Closes the tunnel until {@link #resume}. The server opens no more streams; those in progress have 30 s
     * to end. Identity and renewal continue. Takes effect at once, and survives restarts as soon as the file
     * {@code paused} is in {@code identityDir}. Has no effect if the client is already paused. Callable from
     * any thread.
     */
    public void pause() {
        killSwitch.pause(EMBEDDER, TunnelLinks.GRACE).subscribe(nothing -> {}, TunnelClient::notKept);
    }

    /** Dials again soon. Has no effect unless the client is paused. Callable from any thread. */
    public void resume() {
        killSwitch.resume(EMBEDDER).subscribe(nothing -> {}, TunnelClient::notKept);
    }

    private static void notKept(Throwable error) {
        log.atError().addKeyValue("reason", error.getMessage()).log("pause or resume not stored");
    }

    /**
     * Applies other routes, policy and addresses to the embedded router. All other settings change only with
     * a restart. Running exchanges continue. Reads the files of certificate authorities, so it must not run
     * on an event loop.
     *
     * @param origin the origin of the change for the audit log, which is the file's name
     */
    public void reload(ClientConfig changed, String origin) {
        links.reload(changed, origin);
    }

    /** The number of bytes that wait in this client: {@code culvert_buffered_bytes}. */
    public long bufferedBytes() {
        return links.bufferedBytes();
    }

    /**
     * Completes when the client was stopped. Fails if it can't continue: {@link EnrolmentException.Refused},
     * {@link dev.culvert.config.ConfigException}, {@link dev.culvert.certs.CertsException}.
     */
    public Mono<Void> ended() {
        return ended.asMono();
    }

    /**
     * Drains the client: accepts no new streams, gives those in progress {@code grace} to end, then closes. A
     * repeated stop waits for the first one. Never fails.
     */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            if (stopping.compareAndSet(false, true)) {
                shutDown(grace).subscribe(nothing -> {}, stopped::tryEmitError, stopped::tryEmitEmpty);
            }
            return stopped.asMono();
        });
    }

    private Mono<Void> shutDown(Duration grace) {
        notReady = "draining";
        enrolling.dispose();
        synchronized (this) {
            IdentityRenewal identities = renewal;
            if (identities != null) {
                identities.stop();
            }
        }
        EdgeServer listener = health;
        return links.stop(grace)
                .then(listener == null ? Mono.empty() : listener.stop(Duration.ZERO))
                .then(accessLog == null ? Mono.empty() : accessLog.close())
                .then(Mono.fromRunnable(telemetry::close))
                .then(Mono.fromRunnable(audit::close).subscribeOn(Schedulers.boundedElastic()))
                .then(ownsLoops ? loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)) : Mono.empty())
                .doFinally(signal -> ended.tryEmitEmpty());
    }
}
