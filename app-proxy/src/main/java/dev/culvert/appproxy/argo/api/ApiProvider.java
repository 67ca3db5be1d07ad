package dev.culvert.appproxy.argo.api;

import dev.culvert.handlers.spi.EdgeHandlerProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A provider whose handler works on APIs of the cluster: opens them at start and closes them at stop. */
public abstract class ApiProvider implements EdgeHandlerProvider {
    private final List<RemoteApi> apis = new ArrayList<>();

    /**
     * Returns an API that this provider opens and closes. For {@link #create}; parameters as those of
     * RemoteApi.
     */
    protected final RemoteApi api(String name, String setting, @Nullable ApiSettings settings) {
        var api = new RemoteApi(name, "handlers." + name() + "." + setting, settings);
        apis.add(api);
        return api;
    }

    @Override
    public Mono<Void> start() {
        return Flux.fromIterable(apis).concatMap(RemoteApi::open).then();
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return Flux.fromIterable(apis).concatMap(RemoteApi::close).then();
    }
}
