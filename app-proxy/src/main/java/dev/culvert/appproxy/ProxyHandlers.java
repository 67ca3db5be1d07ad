package dev.culvert.appproxy;

import dev.culvert.appproxy.access.Access;
import dev.culvert.config.ConfigException;
import dev.culvert.handlers.host.HandlerHost;
import dev.culvert.handlers.host.LimitSettings;
import dev.culvert.handlers.host.RemoteHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.ServiceLoader;
import reactor.core.publisher.Mono;

/**
 * Sets up the handlers of an App-Proxy and their limits. {@link ServiceLoader} finds the handlers, the
 * configuration selects them.
 */
final class ProxyHandlers {
    private static final String GRAPHQL = "graphql";
    private static final String GRAPHQL_MOUNT = "/app-proxy/api/graphql/";
    /** The threads of a remote handler, which only forwards bytes. */
    private static final int REMOTE_THREADS = 4;

    private ProxyHandlers() {}

    /** Throws ConfigException for unknown handler names. */
    static HandlerHost.Setup setup(AppProxyConfig config, Access access, MeterRegistry registry,
            EventLoops loops) {
        List<EdgeHandlerProvider> providers = new ArrayList<>(local(config));
        config.remote()
                .forEach(remote -> providers.add(new RemoteHandler(remote.name(), remote.mount(), remote.to(),
                        new HandlerLimits(remote.maxConcurrent(), remote.timeout(), REMOTE_THREADS),
                        remote.credentials(), loops)));
        var names = providers.stream().map(EdgeHandlerProvider::name).sorted().toList();
        known("plugins", config.plugins().keySet(), names);
        List<String> limited = new ArrayList<>(names);
        limited.add(GRAPHQL);
        known("limits", config.limits().keySet(), limited);
        return new HandlerHost.Setup(providers,
                provider -> new ProxyContext(config, names, provider.name(), access),
                (name, asked) -> config.limits().getOrDefault(name, LimitSettings.OWN).over(asked),
                registry, GRAPHQL_MOUNT, config.graphql().limits(), request -> account(access, request));
    }

    /**
     * The account whose share of scarce resources a request uses: the user, or the source address if there is
     * no control plane. Errors: those of {@link Access#caller}.
     */
    static Mono<?> account(Access access, EdgeRequest request) {
        return access.knowsCallers()
                ? access.caller(request.headers()).map(caller -> caller.account() + "/" + caller.id())
                : Mono.just(SourceAddress.of(request.context().source()));
    }

    private static List<EdgeHandlerProvider> local(AppProxyConfig config) {
        return ServiceLoader.load(EdgeHandlerProvider.class, AppProxy.class.getClassLoader())
                .stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> config.handlers().served().containsKey(provider.name())
                        || config.plugins().containsKey(provider.name()))
                .toList();
    }

    private static void known(String key, Collection<String> used, Collection<String> names) {
        for (String name : used) {
            if (!names.contains(name)) {
                throw new ConfigException(key + "." + name, "the name of a handler that is there: " + names);
            }
        }
    }
}
