package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.commits.CommitsSettings.SharedConfiguration;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.appproxy.repositories.Integrations;
import dev.culvert.config.ConfigException;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Commits to Git repositories, through GraphQL, and reads of their files: see docs/commits.md. */
public final class CommitsProvider implements EdgeHandlerProvider {
    /** The handler's key under {@code handlers}. */
    public static final String NAME = "commits";

    /** The maximum number of calls: more than may wait for one repository. */
    private static final int MAX_CALLS = 256;

    /** The limit for a call. A commit may wait for many others, and may have to fetch the branch first. */
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private @Nullable Commits commits;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(CommitsHandler.MOUNT);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        CommitsSettings settings = context.settings(CommitsSettings.class);
        var services = new CommitsHandler.Services(context.service(Access.class),
                context.service(Integrations.class),
                context.service(GitTokens.class));
        var created = new Commits(settings, services.tokens());
        commits = created;
        var drafts = new CommitDrafts(settings, InstantSource.system());
        return new CommitsHandler(services, created, new RawFiles(settings, created), drafts,
                shared(settings.sharedConfiguration(), context.runtime(), services, created, drafts));
    }

    @Override
    public HandlerLimits limits() {
        // Calls wait in lanes of their own, without a thread. Blocking work has threads of its own, but for
        // reads of copies on the disk.
        return new HandlerLimits(MAX_CALLS, TIMEOUT, 2);
    }

    @Override
    public Mono<Void> start() {
        Commits created = commits;
        return created == null ? Mono.empty() : created.start();
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        Commits created = commits;
        return created == null ? Mono.empty() : created.stop(grace);
    }

    private static @Nullable SharedConfigurationFields shared(@Nullable SharedConfiguration settings,
            @Nullable String runtime, CommitsHandler.Services services, Commits commits,
            CommitDrafts drafts) {
        if (settings == null) {
            return null;
        }
        if (runtime == null) {
            throw new ConfigException("runtime",
                    "account/name of this runtime, which handlers.commits.sharedConfiguration needs");
        }
        var tree = new SharedConfigurationTree(settings, runtime.substring(runtime.indexOf('/') + 1));
        return new SharedConfigurationFields(services.access(), commits, drafts, tree,
                () -> new Target(services.integrations().of(settings.integration()), settings.repository()));
    }
}
