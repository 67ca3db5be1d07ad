package dev.culvert.platform.runtimes;

import dev.culvert.certs.Pem;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.AccountSettings;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.spi.RuntimeEnds;
import dev.culvert.platform.host.spi.RuntimeKeys;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.TableVersions;
import dev.culvert.platform.runtimes.server.Differences;
import dev.culvert.platform.runtimes.server.Reconciler;
import dev.culvert.platform.runtimes.server.ServerApi;
import dev.culvert.platform.runtimes.server.ServerCourier;
import dev.culvert.platform.runtimes.store.Rewrapping;
import dev.culvert.platform.runtimes.store.RuntimeSecrets;
import dev.culvert.platform.runtimes.store.RuntimesSchema;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The module of runtimes. It is alone with its tables; the tunnel server follows it by messages, and is never
 * waited for.
 */
public final class RuntimesProvider implements PlatformModule {
    static final String NAME = "runtimes";
    /** Deliveries of the outbox, and one comparison. */
    private static final int MAX_CONNECTIONS = 32;
    private static final int MAX_WAITING = 1000;

    private @Nullable Rewrapping rewrapping;
    private @Nullable Following following;

    /** What follows the tunnel server. */
    private record Following(OutboundCalls calls, Reconciler reconciler) {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Class<? extends Record> settings() {
        return RuntimesSettings.class;
    }

    @Override
    public List<String> mounts() {
        return List.of(ArgoRuntimeCalls.ALL + "/");
    }

    @Override
    public TableVersions tables() {
        return RuntimesSchema.VERSIONS;
    }

    @Override
    public Map<Class<?>, Function<HandlerContext, ?>> services() {
        return Map.of(AccountSettings.class,
                context -> new GitSettingsFunction(context.service(Store.class)));
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        RuntimesSettings settings = context.settings(RuntimesSettings.class);
        Store store = context.service(Store.class);
        Outbox outbox = context.service(Outbox.class);
        Clock clock = Clock.systemUTC();
        var runtimes = new Runtimes(
                new Runtimes.Services(store, context.service(Events.class), outbox,
                        context.service(RuntimeKeys.class), context.service(RuntimeEnds.class),
                        context.service(SecretWrapping.class)),
                settings, context.service(ControlPlaneConfig.class).platform().onPremises(),
                authority(settings.authority()), clock);
        context.service(AccountEnds.class).add(runtimes::accountEnded);
        rewrapping = new Rewrapping(store, context.service(SecretWrapping.class));
        follow(context, settings, clock);
        return new Served(RestApi.of(NAME, context, ArgoRuntimeCalls.of(runtimes)),
                new RuntimesFunction(runtimes, new GitSettingsFunction(store), new RuntimeView(settings),
                        context.service(Callers.class),
                        context.service(AuditTrail.class)));
    }

    private void follow(HandlerContext context, RuntimesSettings settings, Clock clock) {
        String server = settings.server();
        Path tokenFile = settings.tokenFile();
        if (server == null || tokenFile == null) {
            return;
        }
        var calls = new OutboundCalls(NAME, MAX_CONNECTIONS, MAX_WAITING, context.service(EventLoops.class),
                TlsContexts.client(settings.ca()));
        var api = new ServerApi(calls, server, tokenFile);
        Store store = context.service(Store.class);
        Outbox outbox = context.service(Outbox.class);
        outbox.deliver(new ServerCourier(api, store,
                new RuntimeSecrets(context.service(SecretWrapping.class)), clock));
        var reconciler = new Reconciler(api, store, outbox, settings::upstream, clock);
        MeterRegistry registry = context.service(MeterRegistry.class);
        gauge(registry, reconciler, "missing", found -> found.missing().count());
        gauge(registry, reconciler, "unknown", found -> found.unknown().count());
        gauge(registry, reconciler, "refused", found -> found.refused().count());
        gauge(registry, reconciler, "kept", found -> found.kept().count());
        following = new Following(calls, reconciler);
    }

    private static void gauge(MeterRegistry registry, Reconciler reconciler, String kind,
            ToIntFunction<Differences> count) {
        Gauge.builder("culvert_runtimes_differences", reconciler, now -> count.applyAsInt(now.differences()))
                .tag("kind", kind)
                .description("Runtimes that differ between the platform and the tunnel server")
                .register(registry);
    }

    private static @Nullable X509Certificate authority(@Nullable Path file) {
        if (file == null) {
            return null;
        }
        try {
            return Pem.certificates(Files.readString(file, StandardCharsets.US_ASCII)).getFirst();
        } catch (IOException | RuntimeException e) {
            throw new ConfigException("handlers.runtimes.authority",
                    "a readable PEM file with the tunnel server's authority (" + file + ")");
        }
    }

    @Override
    public List<String> troubles() {
        List<String> troubles = new ArrayList<>();
        if (rewrapping != null) {
            troubles.addAll(rewrapping.troubles());
        }
        Following here = following;
        if (here != null) {
            troubles.addAll(here.reconciler.troubles());
        }
        return troubles;
    }

    @Override
    public Mono<Void> start() {
        return Mono.fromRunnable(() -> {
            if (rewrapping != null) {
                rewrapping.start();
            }
            Following here = following;
            if (here != null) {
                here.reconciler.start();
            }
        });
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            if (rewrapping != null) {
                rewrapping.stop();
            }
            Following here = following;
            if (here == null) {
                return Mono.empty();
            }
            here.reconciler.stop();
            return here.calls.close();
        });
    }

    /** The REST calls, and the fields of GraphQL. */
    private record Served(RestApi api, RuntimesFunction function) implements EdgeHandler, GraphQlFunction {
        @Override
        public Mono<EdgeResponse> handle(EdgeRequest request) {
            return api.handle(request);
        }

        @Override
        public String schema() {
            return function.schema();
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return function.fields();
        }
    }
}
