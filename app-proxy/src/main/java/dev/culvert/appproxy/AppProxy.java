package dev.culvert.appproxy;

import dev.culvert.appproxy.access.AccessService;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.host.HandlerHost;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A running App-Proxy: a listener with the configured handlers, and {@code /healthz}, {@code /readyz}, {@code
 * /metrics}. The configuration names its handlers. Callable from any thread.
 */
public final class AppProxy {
    private final EdgeServer server;
    private final Resources resources;

    private AppProxy(EdgeServer server, Resources resources) {
        this.server = server;
        this.resources = resources;
    }

    /**
     * Starts the listener and all handlers. Errors: {@link dev.culvert.http.net.ListenException} when the
     * address can't be bound, {@link dev.culvert.config.ConfigException} when a handler can't work with its
     * settings. After an error nothing is left running.
     */
    public static Mono<AppProxy> start(AppProxyConfig config) {
        return Mono.defer(() -> {
            var resources = new Resources(config);
            var setup = EdgeServer.Setup.of(config.listen(), resources.loops)
                    .telemetry(resources.telemetry)
                    .trustedProxies(config.trustedProxies().stream().map(Cidr::parse).toList());
            AppProxyConfig.Cors cors = config.cors();
            if (cors != null) {
                setup = setup.filter(new CorsFilter(cors.allowOrigins()));
            }
            setup = setup.filter(new ProxyPaths())
                    .filter(new HealthFilter(resources::readiness, resources.telemetry))
                    .filter(resources.access);
            return resources.access.start()
                    .then(resources.handlers.start())
                    .then(EdgeServer.start(setup, resources.handlers))
                    .map(server -> new AppProxy(server, resources))
                    .onErrorResume(error -> resources.free(Duration.ZERO).then(Mono.error(error)));
        });
    }

    /** The address of the listener, with the actual port. */
    public HostPort address() {
        return server.address();
    }

    /** Drains within {@code grace}, then releases all resources. Completes after that. */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            resources.draining.set(true);
            return server.stop(grace).then(resources.free(grace));
        });
    }

    /** The resources with the lifetime of the App-Proxy. */
    private static final class Resources {
        private final AtomicBoolean draining = new AtomicBoolean();
        private final HandlerHost handlers;
        private final EventLoops loops;
        private final Telemetry telemetry;
        private final AccessService access;

        Resources(AppProxyConfig config) {
            telemetry = new Telemetry();
            loops = EventLoops.create();
            try {
                access = AccessService.of(config.controlPlane(), config.audit(), loops);
                handlers = new HandlerHost(
                        ProxyHandlers.setup(config, access.access(), telemetry.registry(), loops));
            } catch (RuntimeException failed) {
                telemetry.close();
                loops.dispose();
                throw failed instanceof IllegalArgumentException
                        ? new ConfigException("handlers",
                                "handlers that fit together: " + failed.getMessage())
                        : failed;
            }
        }

        /** Ready, except for failing handlers. */
        Readiness readiness() {
            return draining.get()
                    ? Readiness.notReady("draining")
                    : Readiness.degraded(handlers.troubles()
                            .entrySet()
                            .stream()
                            .map(trouble -> "handler " + trouble.getKey() + ": " + trouble.getValue())
                            .toList());
        }

        Mono<Void> free(Duration grace) {
            // A handler that fails to stop must not lose audit records or leave other parts running.
            return Flux.concatDelayError(handlers.stop(grace), access.stop(),
                    Mono.<Void>fromRunnable(telemetry::close), loops.disposeLater(Duration.ZERO, grace))
                    .then();
        }
    }
}
