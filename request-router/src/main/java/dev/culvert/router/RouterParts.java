package dev.culvert.router;

import dev.culvert.certs.tls.ListenerTls;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.relay.Relay;
import dev.culvert.relay.exchange.AccessLog;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes.RuntimeEndpoint;
import dev.culvert.relay.listen.CertificateWatch;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.PlainPeers;
import dev.culvert.relay.listen.ProxySenders;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.Router;
import dev.culvert.routing.RouterAudit;
import dev.culvert.routing.RouterAuditFiles;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.SecretFiles;
import io.micrometer.core.instrument.Gauge;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The components of a router in its own pod, except its sockets. */
record RouterParts(EventLoops loops, Telemetry telemetry, Router router, @Nullable Inbox inbox,
        @Nullable InboxFront front, @Nullable RouterAuditFiles audit, @Nullable ListenerTls adminTls,
        Entrance entrance, EdgeContext edge,
        Disposable watches) {
    /** The name of the only runtime, in metrics and logs. */
    private static final String NAME = InboxFront.RUNTIME;
    /** A balancer sends its header at once. The time-out allows for one lost packet. */
    private static final Duration PROXY_HEADER_TIME = Duration.ofSeconds(5);
    private static final List<String> PROTOCOLS = List.of("h2", "http/1.1");
    /** Callers from all networks are accepted. The cluster's network policies restrict them. */
    private static final List<Cidr> EVERYBODY = List.of(Cidr.parse("0.0.0.0/0"), Cidr.parse("::/0"));

    /**
     * Reads files and connects the components. Opens no socket. Errors: {@link
     * dev.culvert.certs.CertsException}, {@link dev.culvert.store.StoreException}.
     */
    static Mono<RouterParts> load(RouterConfig config, Supplier<Readiness> readiness) {
        return Mono.fromCallable(() -> base(config))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(base -> inbox(config.dataDir(), config.inbox(), base)
                        .map(inbox -> wire(config, base, inbox, readiness))
                        .switchIfEmpty(Mono.fromCallable(() -> wire(config, base, null, readiness)))
                        .onErrorResume(failed -> base.close().then(Mono.error(failed))));
    }

    private static Base base(RouterConfig config) {
        TlsLink link = TlsLink.of("edge", "tls.postQuantum",
                config.tls() == null ? PostQuantum.PREFER : config.tls().postQuantum());
        ListenerTls tls = tls(config, link);
        RouterAuditFiles audit = config.dataDir() == null ? null : RouterAuditFiles.in(config.dataDir());
        Router router = Router.create(config.routing(), UpstreamLimits.defaults(),
                audit == null ? RouterAudit.NONE : audit);
        return new Base(router, audit, tls, RouterAdmin.tls(config.admin()), link, EventLoops.create(),
                new Telemetry());
    }

    /** The components that the inbox needs for its deliveries. */
    private record Base(Router router, @Nullable RouterAuditFiles audit, @Nullable ListenerTls tls,
            @Nullable ListenerTls adminTls, TlsLink link, EventLoops loops, Telemetry telemetry) {
        Mono<Void> close() {
            router.close();
            if (audit != null) {
                audit.close();
            }
            telemetry.close();
            return loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2));
        }
    }

    private static Mono<Inbox> inbox(@Nullable Path folder, InboxConfig config, Base base) {
        return folder == null
                ? Mono.empty()
                : Inbox.open(new InboxSetup(folder, config, InboxFront.to(base.router), base.loops.group(),
                        base.telemetry.registry(), Clock.systemUTC()));
    }

    private static @Nullable ListenerTls tls(RouterConfig config, TlsLink link) {
        return config.tls() == null
                ? null
                : ListenerTls.load("router", List.of(config.tls().files()),
                        material -> link
                                .context(hybridOnly -> TlsContexts.edge(material, PROTOCOLS, hybridOnly)),
                        Clock.systemUTC());
    }

    private static RouterParts wire(RouterConfig config, Base base, @Nullable Inbox inbox,
            Supplier<Readiness> readiness) {
        Router router = base.router;
        ListenerTls tls = base.tls;
        Telemetry telemetry = base.telemetry;
        MemoryBudget memory = MemoryBudget.ofProcess(config.limits().maxBufferedBytes().bytes())
                .shown(telemetry);
        List<Cidr> trusted = blocks(config.trustedProxies());
        Entrance entrance = entrance(config.proxyProtocol(), tls, trusted);
        var quota = new RuntimeQuotas(config.limits().ofRuntime(), memory).of(NAME, OwnLimits.NONE);
        Disposable.Composite watches = Disposables.composite(memory.ticking());
        InboxFront front = inbox == null ? null : front(inbox, router, watches);
        Relay first = front == null ? router : front;
        var answerer = new RuntimeEndpoint(NAME, new OwnAnswers(troubledBy(inbox, readiness), first), quota);
        AccessLog accessLog = config.accessLog() ? AccessLog.start(telemetry) : null;
        if (tls != null) {
            watches.add(CertificateWatch.start(List.of(tls)));
            measure(tls, "router", telemetry);
            base.link.shown(telemetry);
        }
        if (base.adminTls != null) {
            watches.add(CertificateWatch.start(List.of(base.adminTls)));
            measure(base.adminTls, "admin", telemetry);
        }
        measure(router, telemetry);
        router.shown(telemetry);
        return new RouterParts(base.loops, telemetry, router, inbox, front, base.audit,
                base.adminTls, entrance,
                new EdgeContext(host -> answerer,
                        new ForwardingRules(ForwardingRules.newPseudonym(), trusted), config.limits(),
                        telemetry, new EdgeMeters(telemetry), entrance.scheme(), null,
                        new EdgeReporting(accessLog, config.serverTiming(), null), memory,
                        blocks(config.inboxPeers())),
                watches);
    }

    /** The readiness of the router without its inbox. */
    Supplier<Readiness> troubledBy(Supplier<Readiness> readiness) {
        return troubledBy(inbox, readiness);
    }

    private static Supplier<Readiness> troubledBy(@Nullable Inbox inbox, Supplier<Readiness> readiness) {
        return inbox == null ? readiness : () -> readiness.get().but(inbox.intake().trouble());
    }

    private static List<Cidr> blocks(List<String> networks) {
        return networks.stream().map(Cidr::parse).toList();
    }

    private static InboxFront front(Inbox inbox, Router router, Disposable.Composite watches) {
        SecretFiles secrets = new SecretFiles(() -> router.config().secretFiles());
        watches.add(secrets.watch(() -> {}));
        return new InboxFront(inbox, router, secrets);
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

    private static void measure(ListenerTls tls, String listener, Telemetry telemetry) {
        Gauge.builder("culvert.certificate.not.after", tls, watched -> watched.notAfter().getEpochSecond())
                .baseUnit("seconds")
                .tag("listener", listener)
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

    /** Applies another configuration. Must not run on an event loop. */
    void replace(RoutingConfig config, String origin) {
        if (front == null) {
            router.replace(config, origin);
        } else {
            front.replace(config, origin);
        }
    }

    /** Closes the audit log after it has written all refusals. */
    private static Mono<Void> closed(RouterAuditFiles audit) {
        return Mono.<Void>fromRunnable(audit::close).subscribeOn(Schedulers.boundedElastic());
    }

    /** Closes all components. The sockets of callers and operators are closed before. */
    Mono<Void> close() {
        AccessLog accessLog = edge.reporting().accessLog();
        return Mono.<Void>fromRunnable(watches::dispose)
                .then(inbox == null ? Mono.empty() : inbox.close())
                .then(Mono.fromRunnable(router::close))
                .then(audit == null ? Mono.empty() : closed(audit))
                .then(accessLog == null ? Mono.empty() : accessLog.close())
                .then(Mono.fromRunnable(telemetry::close))
                .then(loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)));
    }
}
