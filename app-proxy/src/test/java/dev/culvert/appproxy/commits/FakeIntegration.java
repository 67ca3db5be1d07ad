package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Webhook;
import dev.culvert.handlers.spi.HandlerException;
import java.net.URI;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A provider of which only Git is there: a folder, or a server in front of one. */
record FakeIntegration(ProviderKind kind, @Nullable Path folder,
        Function<String, URI> cloneUrls) implements Integration {
    static FakeIntegration of(Path folder) {
        return new FakeIntegration(ProviderKind.FOLDER, folder,
                repository -> folder.resolve(repository + ".git").toUri());
    }

    static FakeIntegration of(GitHttpServer server) {
        return new FakeIntegration(ProviderKind.GITEA, null, server::uri);
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public URI cloneUrl(String repository) {
        return cloneUrls.apply(repository);
    }

    @Override
    public @Nullable Path ca() {
        return null;
    }

    @Override
    public Mono<RepositoriesPage> repositories(@Nullable GitToken token, int page, int limit) {
        return Mono.empty();
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return Mono.empty();
    }

    @Override
    public Mono<PullRequest> createPullRequest(@Nullable GitToken token, NewPullRequest request) {
        if (folder != null) {
            return Mono.error(HandlerException.of(HandlerException.Reason.BAD_REQUEST, "no pull requests"));
        }
        return Mono.just(new PullRequest("1", "https://git.test/1", request.title(), "open"));
    }

    @Override
    public Mono<Webhook> createWebhook(@Nullable GitToken token, NewWebhook request) {
        return Mono.empty();
    }

    @Override
    public Mono<Void> setCommitStatus(@Nullable GitToken token, CommitStatus status) {
        return Mono.empty();
    }
}
