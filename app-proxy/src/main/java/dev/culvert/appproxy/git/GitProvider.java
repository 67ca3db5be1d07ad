package dev.culvert.appproxy.git;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.Access;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Serves Git's smart HTTP protocol for a folder of bare repositories, at {@code
 * /app-proxy/git/{repository}.git}.
 */
public final class GitProvider implements EdgeHandlerProvider {
    static final String NAME = "git";
    static final String MOUNT = "/app-proxy/git/";

    private @Nullable GitBackend backend;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(MOUNT);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        AppProxyConfig.Git settings = context.settings(AppProxyConfig.Git.class);
        GitBackend created = new GitBackend(settings, Schedulers.parallel());
        backend = created;
        return new GitHandler(created, context.service(Access.class), settings.allowPush(),
                settings.allowRewrites(),
                settings.anonymousReads());
    }

    /**
     * No timeout: the handler bounds processes, requests and their time itself for each caller, since a push
     * is answered only when it is read.
     */
    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(8192, Duration.ZERO, 8);
    }

    @Override
    public Mono<Void> start() {
        GitBackend created = backend;
        return created == null ? Mono.empty() : created.check();
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        GitBackend created = backend;
        return created == null ? Mono.empty() : created.stop();
    }
}
