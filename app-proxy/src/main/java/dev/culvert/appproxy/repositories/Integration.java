package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Webhook;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One Git provider, or one folder of bare repositories. Repositories are named {@code owner/name} (with
 * GitLab's groups {@code group/sub/name}; in a folder also {@code name}; never with {@code .git}). Callable
 * from any thread; never blocks.
 *
 * <p>Errors of all calls to a provider are HandlerExceptions: FORBIDDEN when it refuses the token or the
 * token lacks a right, NOT_FOUND, CONFLICT, BAD_REQUEST with the provider's reason, RATE_LIMITED with the
 * time to wait, UPSTREAM_TIMEOUT, UPSTREAM_BAD_RESPONSE and UNAVAILABLE. A token is null only for {@link
 * ProviderKind#FOLDER}, which needs none.
 */
public interface Integration {
    String name();

    ProviderKind kind();

    /** Whether its calls, and Git itself, need the user's token: all but folders do. */
    default boolean needsToken() {
        return kind() != ProviderKind.FOLDER;
    }

    /**
     * The URL for clones and pushes: {@code https://host/owner/name.git}, or a {@code file:} URI for a
     * folder. Never contains a token.
     *
     * @throws dev.culvert.handlers.spi.HandlerException BAD_REQUEST for an invalid name, as {@code ../x}
     */
    URI cloneUrl(String repository);

    /** The folder of bare repositories {@code <name>.git}; null for providers with an API. */
    @Nullable
    Path folder();

    /** The root of its REST API; null for a folder. */
    default @Nullable URI apiUrl() {
        return null;
    }

    /**
     * A PEM file of authorities trusted in addition to the public ones, for REST and Git; null: only the
     * public ones.
     */
    @Nullable
    Path ca();

    /**
     * One page of the repositories that the token's owner can reach, in a stable order.
     *
     * @param page the page's number, from 1
     * @param limit the number of repositories in a page, 1..100
     */
    Mono<RepositoriesPage> repositories(@Nullable GitToken token, int page, int limit);

    /** Asks the provider for the token's owner and scopes. */
    Mono<GitUser> user(GitToken token);

    /**
     * Opens a pull request (a merge request at GitLab). Further error: BAD_REQUEST for kinds without pull
     * requests.
     */
    Mono<PullRequest> createPullRequest(@Nullable GitToken token, NewPullRequest request);

    /** Registers a webhook at a repository. Supported by GitHub and GitLab; otherwise BAD_REQUEST. */
    Mono<Webhook> createWebhook(@Nullable GitToken token, NewWebhook request);

    /** Reports a status of a commit. Supported by GitHub and GitLab; otherwise BAD_REQUEST. */
    Mono<Void> setCommitStatus(@Nullable GitToken token, CommitStatus status);
}
