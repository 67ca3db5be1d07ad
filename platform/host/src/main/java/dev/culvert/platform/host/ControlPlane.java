package dev.culvert.platform.host;

import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.host.HandlerHost;
import dev.culvert.handlers.host.LimitSettings;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.observe.Readiness;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.OperatorRecovery;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.store.ModuleTables;
import dev.culvert.platform.host.store.OutboxSender;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.host.store.StoreMigration;
import dev.culvert.store.Database;
import dev.culvert.store.DatabaseEngine;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteCopy;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.StoreException;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A running control plane: the modules on the class path behind one listener, with {@code /healthz}, {@code
 * /readyz}, {@code /metrics}. Callable from any thread.
 */
public final class ControlPlane {
    private static final String FILE = "directory.db";
    static final String GRAPHQL = "/2.0/api/graphql";
    /** How long a start waits for another process to release the file. */
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(5);
    private static final Set<String> OPERATORS_PAGES = Set.of("/metrics", "/readyz");
    /** How often the outbox is asked whether it is late. */
    private static final Duration LOOK = Duration.ofSeconds(15);

    private final PlatformParts parts;
    private final HandlerHost host;
    private final EdgeServer server;
    private final State state;

    private ControlPlane(PlatformParts parts, HandlerHost host, EdgeServer server, State state) {
        this.parts = parts;
        this.host = host;
        this.server = server;
        this.state = state;
    }

    /**
     * Starts the listener, the database and all modules. Errors: {@link
     * dev.culvert.http.net.ListenException}, {@link StoreException}, {@link
     * dev.culvert.certs.CertsException}, {@link ConfigException}, {@link dev.culvert.config.ConfigErrors};
     * after an error nothing is left running.
     */
    public static Mono<ControlPlane> start(ControlPlaneConfig config) {
        return Mono.fromCallable(() -> PlatformModules.of(config))
                .onErrorMap(IllegalArgumentException.class, ControlPlane::unfit)
                .flatMap(modules -> start(config, modules));
    }

    /** Throws ConfigErrors for mistakes in the settings of modules. Opens no file. */
    public static void check(ControlPlaneConfig config) {
        PlatformModules.of(config);
    }

    static Mono<ControlPlane> start(ControlPlaneConfig config, PlatformModules modules) {
        return parts(config, modules)
                .flatMap(parts -> begin(parts)
                        .onErrorResume(failed -> parts.free(Duration.ZERO).then(Mono.error(failed))));
    }

    private static Mono<PlatformParts> parts(ControlPlaneConfig config, PlatformModules modules) {
        return open(config, modules.tables())
                .flatMap(store -> Mono.fromCallable(() -> PlatformParts.of(config, modules, store))
                        .onErrorResume(failed -> store.close().then(Mono.error(failed))));
    }

    private static Mono<PlatformStore> open(ControlPlaneConfig config, ModuleTables tables) {
        return switch (config.store().kind()) {
            case SQLITE -> PlatformStore.open(config.dataDir().resolve(FILE), tables,
                    new SqliteLimits(config.store().maxWaiting(), LOCK_TIMEOUT), Clock.systemUTC());
            case POSTGRES -> DatabaseEngine
                    .open(Database.Engine.POSTGRES, config.store().server(), tables.postgres())
                    .map(PlatformStore::of);
        };
    }

    private static Mono<ControlPlane> begin(PlatformParts parts) {
        return Mono.defer(() -> {
            ControlPlaneConfig config = parts.config();
            SslContext tls = config.tls() == null
                    ? null
                    : TlsContexts.edge(config.tls().files().load(), List.of());
            HandlerHost host = host(parts);
            var state = new State(host, parts.modules().modules(), parts.store());
            var setup = EdgeServer.Setup.of(config.listen(), parts.loops())
                    .telemetry(parts.telemetry())
                    .trustedProxies(config.trustedProxies().stream().map(Cidr::parse).toList())
                    .filter(ControlPlane::operatorsPages)
                    .filter(new HealthFilter(state::readiness, parts.telemetry()))
                    .filter(new KeyFilter(host.service(Callers.class)));
            return host.start()
                    .then(EdgeServer.start(tls == null ? setup : setup.tls(tls), host))
                    .doOnNext(server -> {
                        parts.outbox().start();
                        state.look(parts.outbox());
                    })
                    .map(server -> new ControlPlane(parts, host, server, state))
                    .onErrorResume(failed -> host.stop(Duration.ZERO)
                            .onErrorComplete()
                            .then(Mono.error(failed)));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private static HandlerHost host(PlatformParts parts) {
        List<PlatformModule> modules = parts.modules().modules();
        List<String> names = modules.stream().map(PlatformModule::name).toList();
        var own = new PlatformCalls(parts);
        List<EdgeHandlerProvider> providers = new ArrayList<>(modules);
        providers.add(own);
        var callers = new AtomicReference<@Nullable Callers>();
        try {
            var host = new HandlerHost(new HandlerHost.Setup(providers,
                    provider -> new PlatformContext(parts, provider.name(), names),
                    (name, asked) -> parts.config()
                            .limits()
                            .getOrDefault(name, LimitSettings.OWN)
                            .over(asked),
                    parts.telemetry().registry(), GRAPHQL, request -> account(callers, request)));
            callers.set(host.service(Callers.class));
            own.publish(host.graphQlSchema());
            return host;
        } catch (IllegalArgumentException failed) {
            throw unfit(failed);
        }
    }

    private static ConfigException unfit(IllegalArgumentException failed) {
        return new ConfigException("handlers", "modules that fit together: " + failed.getMessage());
    }

    /** The account whose share of memory a GraphQL request uses: that of the caller. */
    private static Mono<?> account(AtomicReference<@Nullable Callers> callers, EdgeRequest request) {
        return Objects.requireNonNull(callers.get(), "set before requests come")
                .caller(request.headers(), request.context())
                .map(caller -> caller.account() + "/" + caller.getName());
    }

    /**
     * Writes the present database in {@code dataDir} to a new file, mode 0600. The file is complete, checked
     * and on the disk, or absent. A running control plane is not interrupted. Emits the file. Errors: {@link
     * StoreException}.
     */
    public static Mono<Path> backup(Path dataDir, Path to) {
        Path file = dataDir.resolve(FILE);
        return Mono.fromCallable(() -> {
            SqliteCopy.write(file, to);
            return to;
        })
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                .onErrorMap(IOException.class, failed -> DatabaseProblem.of(file, failed));
    }

    /**
     * Gives an operator access again: writes a new API key to the new file {@code to}, mode 0600, and an
     * audit record. Serves nobody meanwhile. Emits what it did. Errors: as {@link #start}; {@link
     * StoreException.Held} while a control plane uses a database that one process may use.
     */
    public static Mono<OperatorRecovery.Recovered> recover(ControlPlaneConfig config, Path to) {
        return Mono.fromCallable(() -> {
            requireDatabase(config);
            return PlatformModules.of(config);
        })
                .onErrorMap(IllegalArgumentException.class, ControlPlane::unfit)
                .flatMap(modules -> parts(config, modules))
                .flatMap(parts -> Mono.fromCallable(() -> new Recovery(parts, host(parts)))
                        .onErrorResume(failed -> parts.free(Duration.ZERO).then(Mono.error(failed))))
                .flatMap(recovery -> recovery.run(to))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** A folder with a wrong name must not become a new control plane. */
    private static void requireDatabase(ControlPlaneConfig config) {
        if (config.store().kind() == StoreSettings.Kind.SQLITE
                && Files.notExists(config.dataDir().resolve(FILE))) {
            throw new ConfigException("dataDir", "the folder of a control plane that has run; " + FILE
                    + " is not in " + config.dataDir());
        }
    }

    /**
     * Copies the file in {@code dataDir} to the PostgreSQL database that {@code store} names, in one
     * transaction, and compares all rows. The file keeps its content. Emits lines for operators. Errors:
     * {@link StoreException}: Held while a control plane runs, Conflict if the database has other content;
     * {@link ConfigException} without a {@code store.url}.
     */
    public static Mono<List<String>> migrate(ControlPlaneConfig config) {
        return Mono.defer(() -> {
            if (config.store().url() == null) {
                return Mono.error(new ConfigException("store.url", "the database to copy to"));
            }
            ModuleTables tables = PlatformModules.of(config).tables();
            return StoreMigration
                    .run(config.dataDir().resolve(FILE), tables,
                            () -> DatabaseEngine.open(Database.Engine.POSTGRES, config.store().server(),
                                    tables.postgres()))
                    .map(StoreMigration.Report::lines);
        }).onErrorMap(IllegalArgumentException.class, ControlPlane::unfit);
    }

    /** The address of the listener, with the actual port. */
    public HostPort address() {
        return server.address();
    }

    /** Never emits. Fails when another process has taken over the database. */
    public Mono<Void> lost() {
        return parts.store().lost();
    }

    /** Drains within {@code grace}, then releases all resources. Completes after that. */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            state.drain();
            return Flux.concatDelayError(server.stop(grace), host.stop(grace), parts.free(grace)).then();
        });
    }

    /**
     * Refuses the pages of operators to those who come through an edge or an ingress, which add the field:
     * they name modules, other parts and their addresses.
     */
    private static Mono<EdgeResponse> operatorsPages(EdgeRequest request, EdgeHandler next) {
        return OPERATORS_PAGES.contains(request.path()) && request.headers().contains("x-forwarded-for")
                ? Mono.error(HandlerException.of(HandlerException.Reason.NOT_FOUND,
                        "nothing is served at this path"))
                : next.handle(request);
    }

    /** Requires a known key for GraphQL, before anything of the request is read. */
    private record KeyFilter(Callers callers) implements EdgeFilter {
        @Override
        public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
            return request.path().equals(GRAPHQL)
                    ? callers.caller(request.headers(), request.context())
                            .flatMap(caller -> next
                                    .handle(request.withContext(request.context().withCaller(caller))))
                    : next.handle(request);
        }
    }

    /** What {@code /readyz} tells. */
    private static final class State {
        private final HandlerHost host;
        private final List<PlatformModule> modules;
        private final PlatformStore store;
        private final AtomicReference<List<String>> late = new AtomicReference<>(List.of());
        private final Disposable.Swap looking = Disposables.swap();
        private volatile boolean draining;

        State(HandlerHost host, List<PlatformModule> modules, PlatformStore store) {
            this.host = host;
            this.modules = modules;
            this.store = store;
        }

        void look(OutboxSender outbox) {
            looking.update(Flux.interval(LOOK)
                    .onBackpressureDrop()
                    .concatMap(tick -> Mono.zip(outbox.troubles(), store.troubles(),
                            (late, ofStore) -> Stream.concat(late.stream(), ofStore.stream()).toList())
                            .onErrorComplete(), 0)
                    .subscribe(late::set));
        }

        Readiness readiness() {
            if (draining) {
                return Readiness.notReady("draining");
            }
            String away = store.away();
            return away != null
                    ? Readiness.notReady("store: " + away)
                    : Readiness.degraded(Stream.concat(host.troubles()
                            .entrySet()
                            .stream()
                            .map(trouble -> "handler " + trouble.getKey() + ": " + trouble.getValue()),
                            Stream.concat(late.get().stream(), modules.stream().flatMap(State::troubles)))
                            .toList());
        }

        private static Stream<String> troubles(PlatformModule module) {
            return module.troubles().stream().map(trouble -> "module " + module.name() + ": " + trouble);
        }

        void drain() {
            draining = true;
            looking.dispose();
        }
    }
}
