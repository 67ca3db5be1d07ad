package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Webhook;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The root fields for integrations and Git tokens. Callers need {@code VIEW} on {@code gitContexts} to list
 * repositories, and {@code CREATE} on it to register a token, a webhook or a commit status.
 */
final class RepositoriesHandler implements EdgeHandler, GraphQlFunction {
    private static final int MAX_LIMIT = 100;
    private static final int MAX_PAGE = 100_000;
    private static final int USUAL_LIMIT = 50;

    private final Integrations integrations;
    private final GitTokens tokens;
    private final Access access;

    RepositoriesHandler(Integrations integrations, GitTokens tokens, Access access) {
        this.integrations = integrations;
        this.tokens = tokens;
        this.access = access;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return Mono.error(HandlerException.of(Reason.NOT_FOUND, "this handler is reached through GraphQL"));
    }

    @Override
    public String schema() {
        return RepositoriesSchema.TEXT;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        return Map.of("Query.gitRepositories", this::repositories, "Query.gitIntegrations", this::list,
                "Query.gitIntegration", this::one, "Mutation.registerToGitIntegration", this::register,
                "Mutation.deregisterFromGitIntegration", this::deregister, "Mutation.registerRuntimeGitToken",
                this::registerRuntime, "Mutation.createGitWebhook", this::webhook,
                "Mutation.setGitCommitStatus", this::status);
    }

    private Mono<RepositoriesPage> repositories(GraphQlCall call) {
        var args = new RepositoryArguments(call.arguments());
        int page = args.number("page", 1, MAX_PAGE);
        int limit = args.number("limit", USUAL_LIMIT, MAX_LIMIT);
        return viewing(call, args.text("integrationName"),
                (caller, integration) -> token(caller, integration).flatMap(
                        token -> integration.repositories(token.orElse(null), page, limit)));
    }

    /** The integrations that the caller may view; FORBIDDEN if there are none. */
    private Mono<List<GitIntegration>> list(GraphQlCall call) {
        return access.caller(call.headers())
                .flatMap(caller -> Flux.fromIterable(integrations.all())
                        .concatMap(integration -> visible(caller, integration)
                                .flatMap(is -> is ? told(caller, integration) : Mono.empty()))
                        .collectList())
                .filter(seen -> !seen.isEmpty())
                .switchIfEmpty(Mono.error(() -> HandlerException.of(Reason.FORBIDDEN,
                        "no permission for VIEW on gitContexts")));
    }

    private Mono<Boolean> visible(AuthenticatedCaller caller, Integration integration) {
        return access.allow(caller, operation("VIEW", integration, ""))
                .thenReturn(true)
                .onErrorResume(HandlerException.class, error -> error.reason() == Reason.FORBIDDEN
                        ? Mono.just(false)
                        : Mono.error(error));
    }

    private Mono<GitIntegration> one(GraphQlCall call) {
        return viewing(call, RepositoryArguments.text(call.arguments().get("name")), this::told);
    }

    private Mono<GitIntegration> register(GraphQlCall call) {
        var args = new RepositoryArguments(call.arguments());
        return changing(call, args.text("name"), "token of the caller",
                (caller, integration) -> Registration
                        .checked(integration, args.needed("token"), args.text("username"), false)
                        .flatMap(token -> tokens.put(caller, integration.name(), token))
                        .then(Mono.defer(() -> told(caller, integration))));
    }

    private Mono<GitIntegration> deregister(GraphQlCall call) {
        return changing(call, RepositoryArguments.text(call.arguments().get("integrationName")),
                "token of the caller",
                (caller, integration) -> tokens.remove(caller, integration.name())
                        .then(Mono.defer(() -> told(caller, integration))));
    }

    private Mono<GitIntegration> registerRuntime(GraphQlCall call) {
        var args = new RepositoryArguments(call.arguments());
        return changing(call, args.text("name"), "token of the runtime",
                (caller, integration) -> caller.admin()
                        ? Registration.checked(integration, args.needed("token"), args.text("username"), true)
                                .flatMap(token -> tokens.putRuntime(integration.name(), token))
                                .then(Mono.defer(() -> told(caller, integration)))
                        : Mono.error(HandlerException.of(Reason.FORBIDDEN,
                                "the runtime's Git token is for admins of the account")));
    }

    private Mono<Webhook> webhook(GraphQlCall call) {
        var args = new RepositoryArguments(call.arguments());
        String repo = RepositoryName.checked(args.needed("repo"));
        return changing(call, args.text("integrationName"), repo,
                (caller, integration) -> token(caller, integration)
                        .flatMap(token -> integration.createWebhook(token.orElse(null),
                                new NewWebhook(repo, args.uri("url"), args.needed("secret"),
                                        args.texts("events", List.of("push"))))));
    }

    private Mono<Boolean> status(GraphQlCall call) {
        var args = new RepositoryArguments(call.arguments());
        String repo = RepositoryName.checked(args.needed("repo"));
        return changing(call, args.text("integrationName"), repo,
                (caller, integration) -> token(caller, integration)
                        .flatMap(token -> integration.setCommitStatus(token.orElse(null),
                                new CommitStatus(repo, args.needed("sha"),
                                        CommitStatus.State.valueOf(args.needed("state")),
                                        args.needed("context"), args.text("description", ""),
                                        args.text("targetUrl"))))
                        .thenReturn(true));
    }

    private <T> Mono<T> viewing(GraphQlCall call, @Nullable String name,
            BiFunction<AuthenticatedCaller, Integration, Mono<T>> read) {
        return access.caller(call.headers()).flatMap(caller -> {
            Integration integration = integrations.of(name);
            return access.allow(caller, operation("VIEW", integration, ""))
                    .then(Mono.defer(() -> read.apply(caller, integration)));
        });
    }

    private <T> Mono<T> changing(GraphQlCall call, @Nullable String name, String object,
            BiFunction<AuthenticatedCaller, Integration, Mono<T>> change) {
        return access.caller(call.headers()).flatMap(caller -> {
            Integration integration = integrations.of(name);
            return access.change(caller, operation("CREATE", integration, "/" + object), call.context(),
                    Mono.defer(() -> change.apply(caller, integration)));
        });
    }

    private static Operation operation(String action, Integration integration, String object) {
        return new Operation(action, "gitContexts", integration.name() + object,
                Map.of("integration", integration.name()));
    }

    private Mono<Optional<GitToken>> token(AuthenticatedCaller caller, Integration integration) {
        return integration.needsToken()
                ? tokens.of(caller, integration.name()).map(Optional::of)
                : Mono.just(Optional.empty());
    }

    private Mono<GitIntegration> told(AuthenticatedCaller caller, Integration integration) {
        Mono<Boolean> registered = integration.needsToken()
                ? tokens.of(caller, integration.name())
                        .map(token -> true)
                        .onErrorResume(HandlerException.class,
                                error -> error.reason() == Reason.FORBIDDEN
                                        ? Mono.just(false)
                                        : Mono.error(error))
                : Mono.just(false);
        return registered.map(is -> new GitIntegration(integration.name(), integration.kind().name(),
                apiUrl(integration), "ALL_USERS_IN_ACCOUNT",
                is ? List.of(caller.id()) : List.of()));
    }

    private static @Nullable String apiUrl(Integration integration) {
        URI url = integration.apiUrl();
        return url == null ? null : url.toString();
    }
}
