package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.provider.Bitbucket;
import dev.culvert.appproxy.repositories.provider.BitbucketServer;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.Gitea;
import dev.culvert.appproxy.repositories.provider.Github;
import dev.culvert.appproxy.repositories.provider.Gitlab;
import dev.culvert.appproxy.repositories.provider.Listing;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.ProviderApi;
import dev.culvert.appproxy.repositories.provider.ProviderCalls;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Webhook;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.OutboundCalls;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.URI;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A provider with a REST API. */
final class RestIntegration implements Integration {
    private final IntegrationConfig config;
    private final ProviderApi api;
    private final Listing listing;

    RestIntegration(IntegrationConfig config, OutboundCalls http, ProviderCalls.Patience patience) {
        this.config = config;
        this.api = api(config, http, patience);
        this.listing = new Listing(api);
    }

    private static ProviderApi api(IntegrationConfig config, OutboundCalls http,
            ProviderCalls.Patience patience) {
        Function<BiConsumer<HttpHeaders, GitToken>, ProviderCalls> calls = authorize -> new ProviderCalls(
                config.name(), config.api(), http, patience, authorize);
        return switch (config.kind()) {
            case GITHUB -> new Github(calls.apply(Github::authorize));
            case GITLAB -> new Gitlab(calls.apply(Gitlab::authorize));
            case BITBUCKET -> new Bitbucket(calls.apply(Bitbucket::authorize), config.workspace());
            case BITBUCKET_SERVER -> new BitbucketServer(calls.apply(BitbucketServer::authorize));
            case GITEA -> new Gitea(calls.apply(Gitea::authorize));
            case FOLDER -> throw new IllegalArgumentException("a folder has no REST API");
        };
    }

    @Override
    public String name() {
        return config.name();
    }

    @Override
    public ProviderKind kind() {
        return config.kind();
    }

    @Override
    public URI cloneUrl(String repository) {
        return URI.create(config.web() + "/" + RepositoryName.checked(repository) + ".git");
    }

    @Override
    public @Nullable Path folder() {
        return null;
    }

    @Override
    public URI apiUrl() {
        return config.api();
    }

    @Override
    public @Nullable Path ca() {
        return config.ca();
    }

    @Override
    public Mono<RepositoriesPage> repositories(@Nullable GitToken token, int page, int limit) {
        return withToken(token, given -> listing.page(given, page, limit));
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return api.user(token);
    }

    @Override
    public Mono<PullRequest> createPullRequest(@Nullable GitToken token, NewPullRequest request) {
        return inRepository(request.repository(), token, given -> api.createPullRequest(given, request));
    }

    @Override
    public Mono<Webhook> createWebhook(@Nullable GitToken token, NewWebhook request) {
        return inRepository(request.repository(), token, given -> api.createWebhook(given, request));
    }

    @Override
    public Mono<Void> setCommitStatus(@Nullable GitToken token, CommitStatus status) {
        return inRepository(status.repository(), token, given -> api.setCommitStatus(given, status));
    }

    private <T> Mono<T> inRepository(String name, @Nullable GitToken token,
            Function<GitToken, Mono<T>> call) {
        return withToken(token, given -> {
            RepositoryName.checked(name);
            return call.apply(given);
        });
    }

    private <T> Mono<T> withToken(@Nullable GitToken token, Function<GitToken, Mono<T>> call) {
        return token == null
                ? Mono.error(
                        HandlerException.of(Reason.FORBIDDEN, name() + " is asked with a Git token only"))
                : Mono.defer(() -> call.apply(token));
    }
}
