package dev.culvert.server;

import dev.culvert.admin.AdminToken;
import dev.culvert.certs.PemFiles;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.observe.Version;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.relay.exchange.AccessLog;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.listen.CertificateWatch;
import dev.culvert.relay.listen.OpenConnections;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.access.AccessControl;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.direct.DirectHosts;
import dev.culvert.server.direct.PlatformHost;
import dev.culvert.server.enrol.CertificateIssuer;
import dev.culvert.server.enrol.EnrolmentService;
import dev.culvert.server.enrol.PublicUrls;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.link.LoopPlacement;
import dev.culvert.server.link.RuntimeWindows;
import dev.culvert.server.link.ServerSession;
import dev.culvert.server.link.SessionAdmission;
import dev.culvert.server.link.TunnelHandshake;
import dev.culvert.server.link.TunnelSessions;
import dev.culvert.server.link.TunnelUpgrade;
import dev.culvert.server.page.OperatorPages;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.Generations;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.server.tunnel.HeldRequests;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.ServerFigures;
import dev.culvert.server.tunnel.TunnelRegistry;
import dev.culvert.server.tunnel.TunnelRelay;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The components that a server's listeners share, wired once. */
record ServerParts(EventLoops loops, Telemetry telemetry, SqliteRuntimeStore store,
        EnrolmentService enrolment, RenewalService renewal,
        TunnelRegistry registry, SessionMeter meter, OperatorPages admin, ServerEvents events,
        RequestLog requests,
        ListenerSecurity security,
        EdgeContext edge, TunnelHandshake.Shared handshake, OpenConnections sharedTunnels,
        AccessControl access, Webhooks webhooks, DirectHosts direct, PublicUrls urls,
        Disposable certificateWatch) {

    /**
     * The delay before the meters and quotas of a deleted runtime are dropped: its last requests are still
     * counted.
     */
    private static final Duration LAST_REQUESTS = Duration.ofMinutes(1);

    /** The files that a server reads at its start. */
    private record Files(ListenerSecurity security, AuthorityFiles ca, ClientCertRequests certRequests,
            List<X509Certificate> accessAuthorities, @Nullable PlatformHost platform) {

        /** Blocks. */
        static Files load(ServerConfig config, Clock clock) {
            // The handshake names no authority to clients: authorities may change, and a client has only one
            // certificate.
            PlatformHost platform = PlatformFiles.load(config.edge().platform());
            ClientCertRequests certRequests = new ClientCertRequests(platform);
            Path accessCa = config.edge().access().ca();
            return new Files(ListenerSecurity.load(config, List.of(), certRequests, clock),
                    new AuthorityFiles(config.tunnel().ca(), clock), certRequests,
                    accessCa == null ? List.of() : PemFiles.readCertificates(accessCa),
                    platform);
        }
    }

    /**
     * Reads files, opens the store, wires the rest. Opens no socket.
     *
     * @param shown the configuration as operators see it, secrets masked
     */
    static Mono<ServerParts> load(ServerConfig config, List<ConfigBinding.Effective> shown) {
        Clock clock = Clock.systemUTC();
        return Mono.fromCallable(() -> Files.load(config, clock))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(files -> AdminToken.load(config.admin().tokenFile())
                        .flatMap(token -> SqliteRuntimeStore
                                .open(config.dataDir(), config.edge().domain(),
                                        StoreLimits.defaults().waiting(config.store().waitForLease()), clock)
                                .flatMap(store -> Generations.open(store.generations(), clock)
                                        .map(generations -> Base.of(config, shown, files, token, store,
                                                generations, clock))
                                        .flatMap(Base::open)
                                        .onErrorResume(failed -> store.close().then(Mono.error(failed))))));
    }

    /** The components that exist before the inbox. The inbox delivers through them. */
    private record Base(ServerConfig config, List<ConfigBinding.Effective> shown, Files files,
            AdminToken adminToken, SqliteRuntimeStore store,
            EventLoops loops, Telemetry telemetry, RuntimeQuotas quotas, MemoryBudget memory,
            ServerEvents events,
            TunnelRegistry registry, ForwardingRules rules, DirectHosts direct, Clock clock) {

        static Base of(ServerConfig config, List<ConfigBinding.Effective> shown, Files files,
                AdminToken token, SqliteRuntimeStore store,
                Generations generations, Clock clock) {
            MemoryBudget memory = MemoryBudget.ofProcess(config.edge().limits().maxBufferedBytes().bytes());
            ServerEvents events = new ServerEvents(clock);
            Telemetry telemetry = new Telemetry();
            List<Cidr> trusted = config.edge().trustedProxies().stream().map(Cidr::parse).toList();
            return new Base(config, shown, files, token, store, EventLoops.create(), telemetry,
                    new RuntimeQuotas(config.edge().limits().ofRuntime(), memory), memory, events,
                    new TunnelRegistry(clock, generations, events, new HeldRequests(memory)),
                    new ForwardingRules(ForwardingRules.newPseudonym(), trusted),
                    new DirectHosts(files.platform, config.edge().limits().responseHeadTimeout(), telemetry),
                    clock);
        }

        Mono<ServerParts> open() {
            return Mono.fromRunnable(this::prepareDirectHosts)
                    .subscribeOn(Schedulers.boundedElastic())
                    .then(openWebhooks())
                    .onErrorResume(failed -> close().then(Mono.error(failed)));
        }

        /** Makes connections with TLS ready, which reads files. Blocks. */
        private void prepareDirectHosts() {
            PlatformHost platform = files.platform;
            if (platform != null) {
                RegisteredRuntime taken = store.byHost(platform.host());
                if (taken != null) {
                    throw new ConfigException("edge.platform.host",
                            "a host that no runtime has; " + taken.name() + " has this one");
                }
                direct.prepare(PlatformHost.NAME, platform.upstream());
            }
            for (RegisteredRuntime runtime : store.runtimes()) {
                RuntimeUpstream upstream = runtime.upstream();
                if (upstream != null) {
                    direct.prepare(runtime.id(), upstream);
                }
            }
        }

        private Mono<ServerParts> openWebhooks() {
            return Webhooks.open(config.dataDir(), config.inbox(), store,
                    Webhooks.into(store, registry, quotas),
                    loops.group(), telemetry, clock)
                    .map(webhooks -> wire(this, webhooks));
        }

        Mono<Void> close() {
            return Mono.defer(() -> {
                direct.close();
                telemetry.close();
                return loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2));
            });
        }
    }

    private static ServerParts wire(Base base, Webhooks webhooks) {
        ServerConfig config = base.config;
        Files files = base.files;
        SqliteRuntimeStore store = base.store;
        EventLoops loops = base.loops;
        Telemetry telemetry = base.telemetry;
        TunnelRegistry registry = base.registry;
        RuntimeQuotas quotas = base.quotas;
        MemoryBudget memory = base.memory;
        ServerEvents events = base.events;
        Clock clock = base.clock;
        files.certRequests.read(store);
        AccessControl access = new AccessControl(config.edge().access().withoutRules(),
                files.accessAuthorities,
                loops, clock);
        memory.shown(telemetry);
        SessionMeter meter = new SessionMeter();
        PublicUrls urls = PublicUrls.of(config.edge().publicPort(), config.edge().plain());
        var issuer = new CertificateIssuer(files.ca, config.tunnel().ca().clientLife(), urls);
        EnrolmentService enrolment = new EnrolmentService(store, issuer, clock, (runtime, remote) -> events
                .publish(ServerEvent.Kind.ENROLLED, runtime, 0, HostPort.of(remote).toString(), null));
        RenewalService renewal = new RenewalService(store, issuer, clock);
        EdgeMeters meters = new EdgeMeters(telemetry);
        DirectHosts direct = base.direct;
        var endpoints = new RuntimeEndpoints(store, quotas, registry, access, webhooks, direct);
        RuntimeRegistrar registrar = new RuntimeRegistrar(store, registry,
                new EnrolmentTokens(() -> files.ca.get().certificate()), config.edge().domain(), clock,
                gone -> {
                    direct.forget(gone.id());
                    Schedulers.parallel().schedule(() -> {
                        meters.forget(gone.name().toString());
                        endpoints.forget(gone.id());
                        quotas.forget(gone.id());
                        access.forget(gone.id());
                        webhooks.forget(gone);
                        direct.forget(gone.id());
                    }, LAST_REQUESTS.toMillis(), TimeUnit.MILLISECONDS);
                }, direct);
        TunnelSessions sessions = new TunnelSessions(
                new ServerSession.Shared(store, registry, renewal, events, webhooks,
                        new RuntimeWindows(new WindowPool(base.memory.max() / 4, base.memory::isSpent)),
                        clock),
                meter,
                "culvert/" + Version.current());
        var figures = new ServerFigures(registry, meter);
        telemetry.tunnels(figures);
        Gauge.builder("culvert.held.requests", registry, all -> all.held().count())
                .strongReference(true)
                .register(telemetry.registry());
        var openings = new SessionAdmission(SessionAdmission.MAX_PROVEN, SessionAdmission.MAX_SILENT,
                SessionAdmission.MAX_JUDGED,
                new SecureRandom());
        Gauge.builder("culvert.tunnel.openings", openings, SessionAdmission::count)
                .strongReference(true)
                .register(telemetry.registry());
        FunctionCounter.builder("culvert.renewals.refused", renewal, RenewalService::conflicts)
                .tag("cause", "renewed-before")
                .register(telemetry.registry());
        FunctionCounter.builder("culvert.tunnel.reconnects", registry, TunnelRegistry::reconnects)
                .register(telemetry.registry());
        var handshake = new TunnelHandshake.Shared(store, enrolment, renewal,
                () -> files.ca.get().authorities(),
                config.tunnel().requireMutualTls(),
                // A runtime's host, or the platform's, may match a wildcard. A proof relayed by the service
                // there is not made for this server.
                host -> files.security.provenTo().test(host) && store.byHost(host) == null
                        && !direct.isPlatforms(HostName.of(host)),
                openings, new LoopPlacement(loops.group(), registry::loopsOf), sessions::start, telemetry,
                clock);
        ListenerSecurity security = files.security;
        security.measure(telemetry);
        OpenConnections sharedTunnels = new OpenConnections();
        AccessLog accessLog = config.edge().accessLog() ? AccessLog.start(telemetry) : null;
        RequestLog requests = new RequestLog(clock);
        EdgeReporting reporting = new EdgeReporting(accessLog, config.edge().serverTiming(), requests);
        TunnelUpgrade upgrade = config.shared()
                ? new TunnelUpgrade(security.tunnelHosts(), handshake, sharedTunnels)
                : null;
        var api = new AdminApi.Parts(base.adminToken, store.adminTokens(), store.audit(), store, registrar,
                quotas, access.withoutRules(), registry, webhooks.inbox(), events, requests, clock);
        return new ServerParts(loops, telemetry, store, enrolment, renewal, registry, meter,
                new OperatorPages(new AdminApi(api), api, figures, () -> clientUrl(config), base.shown,
                        config.admin().tls() == null ? config.admin().listen() : null),
                events, requests, security,
                new EdgeContext(endpoints, base.rules, config.edge().limits(), telemetry, meters,
                        security.edge().scheme(), upgrade, reporting, memory),
                handshake, sharedTunnels, access, webhooks, direct, urls,
                Disposables.composite(webhooks.tell(events, store, clock),
                        CertificateWatch.start(security.watched()), files.ca.watch(),
                        memory.ticking()));
    }

    /** The URL that clients dial: a name of the tunnel, and the configured port. */
    private static String clientUrl(ServerConfig config) {
        List<String> hosts = config.tunnel().hosts();
        return "wss://" + (hosts.isEmpty() ? config.edge().domain() : hosts.getFirst()) + ":"
                + config.tunnel().listen().port();
    }

    /** Releases all resources except the sockets, which the listeners close. */
    Mono<Void> close() {
        certificateWatch.dispose();
        admin.close();
        AccessLog accessLog = edge.reporting().accessLog();
        return (accessLog == null ? Mono.<Void>empty() : accessLog.close()).then(enrolment.close())
                .then(renewal.close())
                .then(webhooks.inbox().close())
                .then(store.close())
                .then(access.close())
                .then(Mono.fromRunnable(direct::close))
                .then(Mono.fromRunnable(telemetry::close))
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)));
    }
}
