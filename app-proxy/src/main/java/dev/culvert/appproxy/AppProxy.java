package dev.culvert.appproxy;

import dev.culvert.appproxy.access.AccessService;
import dev.culvert.edge.EdgeServer;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.HealthFilter;
import dev.culvert.edge.MountedHandlers;
import dev.culvert.edge.Readiness;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.spi.EdgeHandlerProvider;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Mono;

/**
 * A running App-Proxy: a listener with the configured handlers, and {@code /healthz}, {@code /readyz}, {@code
 * /metrics}. Handlers are found by {@link ServiceLoader}; those that the configuration names are served. Safe for use
 * by any thread.
 */
public final class AppProxy {
    private final EdgeServer server;
    private final Resources resources;

    private AppProxy(EdgeServer server, Resources resources) {
        this.server = server;
        this.resources = resources;
    }

    /**
     * Starts everything. Errors: {@link dev.culvert.edge.ListenException} when the address can't be bound, {@link
     * dev.culvert.edge.config.ConfigException} when a handler can't work with its settings; then nothing is left
     * running.
     */
    public static Mono<AppProxy> start(AppProxyConfig config) {
        return Mono.defer(() -> {
            var resources = new Resources(config);
            var setup = EdgeServer.Setup.of(config.listen(), resources.loops)
                    .telemetry(resources.telemetry)
                    .filter(new HealthFilter(resources.readiness::get, resources.telemetry))
                    .filter(resources.access);
            return resources.access.start()
                    .then(resources.handlers.start())
                    .then(EdgeServer.start(setup, resources.handlers))
                    .map(server -> new AppProxy(server, resources))
                    .onErrorResume(error -> resources.free(Duration.ZERO).then(Mono.error(error)));
        });
    }

    /** Where it listens, with the port that was picked. */
    public HostPort address() {
        return server.address();
    }

    /** Drains within {@code grace}, then frees everything. Completes when that is done. */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            resources.readiness.set(Readiness.notReady("draining"));
            return server.stop(grace).then(resources.free(grace));
        });
    }

    /** What lives as long as the App-Proxy. */
    private static final class Resources {
        private final AtomicReference<Readiness> readiness = new AtomicReference<>(Readiness.READY);
        private final MountedHandlers handlers;
        private final EventLoops loops;
        private final Telemetry telemetry;
        private final AccessService access;

        Resources(AppProxyConfig config) {
            List<EdgeHandlerProvider> providers = providers(config);
            var names = providers.stream().map(EdgeHandlerProvider::name).sorted().toList();
            loops = EventLoops.create();
            telemetry = new Telemetry();
            access = AccessService.of(config.controlPlane(), config.audit(), loops);
            try {
                handlers = MountedHandlers.of(providers,
                        provider -> new ProxyContext(config, names, access.access()));
            } catch (RuntimeException failed) {
                telemetry.close();
                loops.dispose();
                throw failed;
            }
        }

        private static List<EdgeHandlerProvider> providers(AppProxyConfig config) {
            return ServiceLoader.load(EdgeHandlerProvider.class, AppProxy.class.getClassLoader())
                    .stream()
                    .map(ServiceLoader.Provider::get)
                    .filter(provider -> config.handlers().served().containsKey(provider.name()))
                    .toList();
        }

        Mono<Void> free(Duration grace) {
            return handlers.stop(grace)
                    .then(access.stop())
                    .then(Mono.<Void>fromRunnable(telemetry::close))
                    .then(loops.disposeLater(Duration.ZERO, grace));
        }
    }
}
