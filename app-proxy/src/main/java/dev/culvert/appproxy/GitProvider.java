package dev.culvert.appproxy;

import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeHandlerProvider;
import dev.culvert.edge.spi.HandlerContext;
import dev.culvert.edge.spi.HandlerLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Git's smart HTTP over a folder of bare repositories, at {@code /app-proxy/git/{repository}.git}. */
public final class GitProvider implements EdgeHandlerProvider {
    static final String NAME = "git";
    static final String MOUNT = "/app-proxy/git/";

    private @Nullable GitBackend backend;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String mount() {
        return MOUNT;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        AppProxyConfig.Git settings = context.settings(AppProxyConfig.Git.class);
        GitBackend created = new GitBackend(settings);
        backend = created;
        return new GitHandler(created, settings.allowPush());
    }

    /** It bounds its processes and their time itself: a push is answered when it is read. */
    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(1024, Duration.ZERO, 8);
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
