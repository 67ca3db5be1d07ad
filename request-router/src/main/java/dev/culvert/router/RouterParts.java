package dev.culvert.router;

import dev.culvert.certs.ListenerTls;
import dev.culvert.certs.TlsContexts;
import dev.culvert.edge.Cidr;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Readiness;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.caller.AccessLog;
import dev.culvert.edge.caller.EdgeListener;
import dev.culvert.edge.caller.EdgeMeters;
import dev.culvert.edge.caller.EdgeRuntimes.Answerer;
import dev.culvert.edge.caller.MemoryBudget;
import dev.culvert.edge.caller.OwnLimits;
import dev.culvert.edge.caller.Reports;
import dev.culvert.edge.caller.RuntimeQuotas;
import dev.culvert.edge.listen.CertificateWatch;
import dev.culvert.edge.listen.Entrance;
import dev.culvert.edge.listen.PlainPeers;
import dev.culvert.edge.listen.ProxySenders;
import io.micrometer.core.instrument.Gauge;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What a router in its own pod is made of, but for its sockets. */
record RouterParts(EventLoops loops, Telemetry telemetry, Router router, Entrance entrance,
        EdgeListener.Shared edge, Disposable watches) {
    /** The one runtime that there is, in metrics and logs. */
    private static final String NAME = "router";
    /** A balancer sends its header at once, and may lose it once on the way. */
    private static final Duration PROXY_HEADER_TIME = Duration.ofSeconds(5);
    private static final List<String> PROTOCOLS = List.of("h2", "http/1.1");
    /** A pod's neighbours may all call: who may is a matter of the cluster's network policies. */
    private static final List<Cidr> EVERYBODY = List.of(Cidr.parse("0.0.0.0/0"), Cidr.parse("::/0"));

    /** Reads files, wires. Opens no socket. Errors: {@link dev.culvert.certs.CertsException}. */
    static Mono<RouterParts> load(RouterConfig config, Supplier<Readiness> readiness) {
        return Mono.fromCallable(() -> wire(config, tls(config), readiness))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static @Nullable ListenerTls tls(RouterConfig config) {
        return config.tls() == null
                ? null
                : ListenerTls.load("router", List.of(config.tls().files()),
                        material -> TlsContexts.edge(material, PROTOCOLS), Clock.systemUTC());
    }

    private static RouterParts wire(RouterConfig config, @Nullable ListenerTls tls,
            Supplier<Readiness> readiness) {
        AuditFiles audit = config.dataDir() == null ? null : AuditFiles.in(config.dataDir());
        Router router = Router.create(config.routing(), UpstreamLimits.defaults(),
                audit == null ? AuditLog.NONE : audit);
        EventLoops loops = EventLoops.create();
        Telemetry telemetry = new Telemetry();
        MemoryBudget memory = MemoryBudget.ofProcess(config.limits().maxBufferedBytes().bytes())
                .shown(telemetry);
        List<Cidr> trusted = config.trustedProxies().stream().map(Cidr::parse).toList();
        Entrance entrance = entrance(config.proxyProtocol(), tls, trusted);
        var quota = new RuntimeQuotas(config.limits().ofRuntime(), memory).of(NAME, OwnLimits.NONE);
        var answerer = new Answerer(NAME, new OwnAnswers(readiness, router), quota);
        AccessLog accessLog = config.accessLog() ? AccessLog.start(telemetry) : null;
        Disposable.Composite watches = Disposables.composite(memory.ticking());
        if (audit != null) {
            watches.add(() -> Schedulers.boundedElastic().schedule(audit::close));
        }
        if (tls != null) {
            watches.add(CertificateWatch.start(List.of(tls)));
            measure(tls, telemetry);
        }
        measure(router, telemetry);
        return new RouterParts(loops, telemetry, router, entrance,
                new EdgeListener.Shared(host -> answerer,
                        new ForwardingRules(ForwardingRules.newPseudonym(), trusted), config.limits(),
                        telemetry, new EdgeMeters(telemetry), entrance.scheme(), null,
                        new Reports(accessLog, config.serverTiming()), true),
                watches);
    }

    private static Entrance entrance(boolean proxyProtocol, @Nullable ListenerTls tls, List<Cidr> trusted) {
        Entrance entrance = tls == null
                ? new Entrance.Plain(new PlainPeers("router", EVERYBODY))
                : new Entrance.Secure(tls::context, () -> !tls.single());
        return proxyProtocol
                ? new Entrance.Announced(
                        new ProxySenders(new PlainPeers("router", trusted), PROXY_HEADER_TIME), entrance)
                : entrance;
    }

    private static void measure(ListenerTls tls, Telemetry telemetry) {
        Gauge.builder("culvert.certificate.not.after", tls, watched -> watched.notAfter().getEpochSecond())
                .baseUnit("seconds")
                .tag("listener", "router")
                .strongReference(true)
                .register(telemetry.registry());
    }

    private static void measure(Router router, Telemetry telemetry) {
        Gauge.builder("culvert.buffered", router, Router::bufferedBytes)
                .baseUnit("bytes")
                .strongReference(true)
                .register(telemetry.registry());
        Gauge.builder("culvert.upstream.ejected", router, Router::ejectedAddresses)
                .strongReference(true)
                .register(telemetry.registry());
        Gauge.builder("culvert.upstream.connections", router, Router::openConnections)
                .strongReference(true)
                .register(telemetry.registry());
    }

    /** Gives back everything but the sockets of callers and operators, which are closed before. */
    Mono<Void> close() {
        AccessLog accessLog = edge.reports().accessLog();
        return Mono.<Void>fromRunnable(() -> {
            watches.dispose();
            router.close();
        })
                .then(accessLog == null ? Mono.empty() : accessLog.close())
                .then(Mono.fromRunnable(telemetry::close))
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)));
    }
}
