package dev.culvert.server;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsContexts;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.edge.Cidr;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.Version;
import dev.culvert.protocol.netty.SessionMeter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.netty.handler.ssl.SslContext;
import io.netty.util.AsciiString;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What a server's listeners share, wired together once. */
record ServerParts(EventLoops loops, Telemetry telemetry, SqliteRuntimeStore store,
        EnrolmentService enrolment, RenewalService renewal,
        TunnelRegistry registry, SessionMeter meter, AdminApi admin, SslContext edgeTls, SslContext tunnelTls,
        EdgeListener.Shared edge, TunnelHandshake.Shared handshake) {

    /** RFC 9112: what ALPN may agree on; HTTP/2 joins with its own handler. */
    private static final List<String> EDGE_PROTOCOLS = List.of("http/1.1");
    /** Requests of a deleted runtime are still counted while they end. */
    private static final Duration LAST_REQUESTS = Duration.ofMinutes(1);
    private static final AsciiString HTTPS = AsciiString.cached("https");

    /** The files a server reads once. */
    private record Files(SslContext edgeTls, SslContext tunnelTls, CertificateAuthority ca) {

        /** Blocks. */
        static Files load(ServerConfig config) {
            ServerConfig.Tunnel tunnel = config.tunnel();
            CertificateAuthority ca = CertificateAuthority.load(tunnel.ca().certificate(), tunnel.ca().key());
            return new Files(
                    TlsContexts.edge(material(config.edge().tls()), EDGE_PROTOCOLS),
                    TlsContexts.tunnel(material(tunnel.tls()), List.of(ca.certificate()), EDGE_PROTOCOLS),
                    ca);
        }

        private static TlsMaterial material(ServerConfig.Tls tls) {
            return TlsMaterial.load(tls.certificate(), tls.key());
        }
    }

    /** Reads files, opens the store, wires the rest. Opens no socket. */
    static Mono<ServerParts> load(ServerConfig config) {
        Clock clock = Clock.systemUTC();
        return Mono.fromCallable(() -> Files.load(config))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(files -> AdminToken.load(config.admin().tokenFile())
                        .flatMap(token -> SqliteRuntimeStore
                                .open(config.dataDir(), config.edge().domain(),
                                        StoreLimits.defaults().waiting(config.store().waitForLease()), clock)
                                .flatMap(store -> Generations.open(store.generations(), clock)
                                        .map(generations -> wire(config, files, token, store, generations,
                                                clock))
                                        .onErrorResume(failed -> store.close().then(Mono.error(failed))))));
    }

    private static ServerParts wire(ServerConfig config, Files files, AdminToken token,
            SqliteRuntimeStore store, Generations generations, Clock clock) {
        Telemetry telemetry = new Telemetry();
        SessionMeter meter = new SessionMeter();
        TunnelRegistry registry = new TunnelRegistry(clock, generations);
        var issuer = new CertificateIssuer(files.ca, config.tunnel().ca().clientLife());
        EnrolmentService enrolment = new EnrolmentService(store, issuer, clock);
        RenewalService renewal = new RenewalService(store, issuer, clock);
        EdgeMeters meters = new EdgeMeters(telemetry);
        RuntimeRegistrar registrar = new RuntimeRegistrar(store, registry,
                new EnrolmentTokens(files.ca.certificate()), config.edge().domain(), clock,
                gone -> Schedulers.parallel()
                        .schedule(() -> meters.forget(gone.toString()), LAST_REQUESTS.toMillis(),
                                TimeUnit.MILLISECONDS));
        TunnelSessions sessions = new TunnelSessions(
                new ServerSession.Shared(store, registry, renewal, clock), meter,
                "culvert/" + Version.current());
        telemetry.tunnels(new ServerFigures(registry, meter));
        Gauge.builder("culvert.held.requests", registry, all -> all.held().count())
                .strongReference(true)
                .register(telemetry.registry());
        var openings = new Openings(Openings.MAX_PROVEN, Openings.MAX_UNPROVEN, new SecureRandom());
        Gauge.builder("culvert.tunnel.openings", openings, Openings::count)
                .strongReference(true)
                .register(telemetry.registry());
        FunctionCounter.builder("culvert.tunnel.reconnects", registry, TunnelRegistry::reconnects)
                .register(telemetry.registry());
        List<Cidr> trusted = config.edge().trustedProxies().stream().map(Cidr::parse).toList();
        ForwardingRules rules = new ForwardingRules(ForwardingRules.newPseudonym(), trusted);
        int maxStreams = config.edge().limits().maxStreams();
        EdgeRuntimes runtimes = authority -> {
            RegisteredRuntime runtime = store.byHost(authority);
            return runtime == null
                    ? null
                    : new EdgeRuntimes.Answerer(runtime.name().toString(),
                            new TunnelRelay(registry, runtime, maxStreams));
        };
        return new ServerParts(EventLoops.create(), telemetry, store, enrolment, renewal, registry, meter,
                new AdminApi(new AdminApi.Parts(token, store.adminTokens(), store.audit(), store, registrar,
                        registry, clock)),
                files.edgeTls, files.tunnelTls,
                new EdgeListener.Shared(runtimes, rules, config.edge().limits(), telemetry, meters, HTTPS),
                new TunnelHandshake.Shared(store, enrolment, renewal, List.of(files.ca.certificate()),
                        config.tunnel().requireMutualTls(), openings,
                        sessions::start,
                        telemetry,
                        clock));
    }

    /** Gives back everything but the sockets, which the listeners close. */
    Mono<Void> close() {
        return enrolment.close()
                .then(renewal.close())
                .then(store.close())
                .then(Mono.fromRunnable(telemetry::close))
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)));
    }
}
