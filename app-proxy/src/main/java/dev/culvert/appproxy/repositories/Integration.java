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
 * One Git provider, or one folder of bare repositories. Repositories are named {@code owner/name} (with GitLab's groups
 * {@code group/sub/name}; in a folder also {@code name}; never with {@code .git}). Safe for use by any thread; never blocks.
 *
 * <p>Errors of all calls to a provider are HandlerExceptions: FORBIDDEN when it refuses the token or what the token may
 * do, NOT_FOUND, CONFLICT, BAD_REQUEST with what it found wrong, RATE_LIMITED with how long to wait, UPSTREAM_TIMEOUT,
 * UPSTREAM_BAD_RESPONSE and UNAVAILABLE. A token is null only for {@link ProviderKind#FOLDER}, which asks for none.
 */
public interface Integration {
    String name();

    ProviderKind kind();

    /** Whether its calls, and Git itself, need the user's token: all but folders do. */
    default boolean needsToken() {
        return kind() != ProviderKind.FOLDER;
    }

    /**
     * What Git clones from and pushes to: {@code https://host/owner/name.git}, or a {@code file:} URI for a folder. Never
     * has a token in it.
     *
     * @throws dev.culvert.handlers.spi.HandlerException BAD_REQUEST for a name that is none, as {@code ../x}
     */
    URI cloneUrl(String repository);

    /** The folder of bare repositories {@code <name>.git}; null for providers with an API. */
    @Nullable
    Path folder();

    /** The root of its REST API; null for a folder. */
    default @Nullable URI apiUrl() {
        return null;
    }

    /** The authorities, as a PEM file, to believe beside the public ones, for REST and Git alike; null: the public ones alone. */
    @Nullable
    Path ca();

    /**
     * One page of the repositories that the token's owner can reach, in an order that stays.
     *
     * @param page from 1
     * @param limit repositories a page, 1..100
     */
    Mono<RepositoriesPage> repositories(@Nullable GitToken token, int page, int limit);

    /** Whose token that is and what it may: asked of the provider. */
    Mono<GitUser> user(GitToken token);

    /** Opens a pull request (a merge request at GitLab). Errors also: BAD_REQUEST where the kind has none. */
    Mono<PullRequest> createPullRequest(@Nullable GitToken token, NewPullRequest request);

    /** Registers a webhook at a repository. GitHub and GitLab; BAD_REQUEST elsewhere. */
    Mono<Webhook> createWebhook(@Nullable GitToken token, NewWebhook request);

    /** Reports a status of a commit. GitHub and GitLab; BAD_REQUEST elsewhere. */
    Mono<Void> setCommitStatus(@Nullable GitToken token, CommitStatus status);
}
