package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.appproxy.repositories.Integrations;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The root fields of the commits handler. Parses the arguments, checks permission, and runs the operation. A
 * branch that content is read from needs permission as well as the written branch. At its path it serves
 * files.
 */
final class CommitsHandler implements EdgeHandler, GraphQlFunction {
    static final String MOUNT = "/app-proxy/api/files/";

    private final Access access;
    private final Integrations integrations;
    private final GitTokens tokens;
    private final Commits commits;
    private final RawFiles raw;
    private final CommitDrafts drafts;
    private final @Nullable SharedConfigurationFields shared;

    CommitsHandler(Services services, Commits commits, RawFiles raw, CommitDrafts drafts,
            @Nullable SharedConfigurationFields shared) {
        this.access = services.access();
        this.integrations = services.integrations();
        this.tokens = services.tokens();
        this.commits = commits;
        this.raw = raw;
        this.drafts = drafts;
        this.shared = shared;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        if (!MOUNT.equals(request.path() + "/")) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND,
                    "files are at " + RawFiles.PATH + ", commits are made through GraphQL"));
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
        }
        return access.caller(request.headers()).flatMap(caller -> {
            CommitArguments arguments = CommitArguments.ofQuery(request.target());
            Target target = target(arguments);
            Branch branch = new Branch(arguments.required("branchName"));
            FilePath path = new FilePath(arguments.required("path"));
            return access.allow(caller, operation("VIEW", target, branch))
                    .then(Mono.defer(() -> raw.serve(request, target, caller, branch, path)));
        });
    }

    @Override
    public String schema() {
        try (InputStream in = Objects
                .requireNonNull(CommitsHandler.class.getResourceAsStream("schema.graphqls"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the class path can be read", e);
        }
    }

    @Override
    public Map<String, GraphQlField> fields() {
        Map<String, GraphQlField> fields = new HashMap<>();
        fields.put("Query.readFile", called(this::read));
        fields.put("Mutation.commitFiles", called(this::commit));
        fields.put("Mutation.deleteFiles", called(this::delete));
        fields.put("Mutation.createPromotionPullRequest", called(this::pullRequest));
        SharedConfigurationFields configured = shared;
        if (configured == null) {
            SharedConfigurationFields.NAMES.forEach(name -> fields.put(name, call -> Mono.error(
                    HandlerException.of(Reason.NOT_FOUND,
                            "no shared configuration repository is configured (handlers.commits.sharedConfiguration)"))));
        } else {
            configured.actions().forEach((name, action) -> fields.put(name, called(action)));
        }
        return fields;
    }

    private GraphQlField called(Action action) {
        return call -> access.caller(call.headers())
                .flatMap(caller -> action.of(call, caller, CommitArguments.of(call.arguments())));
    }

    private Mono<FileRead> read(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments) {
        Target target = target(arguments);
        Branch branch = new Branch(arguments.required("branchName"));
        FilePath path = new FilePath(arguments.required("path"));
        return access.allow(caller, operation("VIEW", target, branch))
                .then(Mono.defer(() -> commits.read(target, caller, branch, path,
                        size -> {
                            raw.checkInline(size, target, branch, path);
                            call.claim(FileRead.MEMORY_FACTOR * size);
                        })));
    }

    private Mono<CommitResult> commit(GraphQlCall call, AuthenticatedCaller caller,
            CommitArguments arguments) {
        Target target = target(arguments);
        Branch branch = new Branch(arguments.required("branchName"));
        CommitDraft draft = drafts.writing(caller, branch, arguments);
        Branch base = draft.base();
        Mono<CommitResult> commit = Mono.defer(() -> commits.commit(target, caller, draft));
        return base == null
                ? access.change(caller, operation("CREATE", target, branch), call.context(), commit)
                : access.change(caller, operation("CREATE", target, branch, " from " + base),
                        List.of(operation("VIEW", target, base)), call.context(), commit);
    }

    private Mono<CommitResult> delete(GraphQlCall call, AuthenticatedCaller caller,
            CommitArguments arguments) {
        Target target = target(arguments);
        Branch branch = new Branch(arguments.required("branchName"));
        CommitDraft draft = drafts.deleting(caller, branch, arguments);
        return access.change(caller, operation("DELETE_RESOURCE", target, branch), call.context(),
                Mono.defer(() -> commits.commit(target, caller, draft)));
    }

    private Mono<PullRequest> pullRequest(GraphQlCall call, AuthenticatedCaller caller,
            CommitArguments arguments) {
        Target target = target(arguments);
        Branch head = new Branch(arguments.required("head"));
        Branch base = new Branch(arguments.required("base"));
        var request = new NewPullRequest(target.repository(), arguments.required("title"),
                arguments.text("description", ""), head.name(), base.name());
        // A folder has no pull requests, so nothing is committed for one.
        Mono<?> files = arguments.objects("files").isEmpty()
                || target.integration().kind() == ProviderKind.FOLDER
                        ? Mono.empty()
                        : commits.commit(target, caller, drafts.promoting(caller, head, base, arguments));
        return access.change(caller, operation("CREATE", target, head, " into " + base),
                List.of(operation("VIEW", target, base)), call.context(), Mono.defer(
                        () -> files.then(Mono.defer(() -> opened(target.integration(), caller, request)))));
    }

    private Mono<PullRequest> opened(Integration integration, AuthenticatedCaller caller,
            NewPullRequest request) {
        return integration.needsToken()
                ? tokens.of(caller, integration.name())
                        .flatMap(token -> integration.createPullRequest(token, request))
                : integration.createPullRequest(null, request);
    }

    private Target target(CommitArguments arguments) {
        return new Target(integrations.of(arguments.text("integrationName")), arguments.required("repo"));
    }

    private static Operation operation(String action, Target target, Branch branch) {
        return operation(action, target, branch, "");
    }

    /** @param other the other branch of the operation, for the audit log; rules only see {@code branch} */
    private static Operation operation(String action, Target target, Branch branch, String other) {
        return new Operation(action, "gitContexts", target + "@" + branch + other,
                Map.of("integration", target.integration().name(), "repository", target.repository(),
                        "branch",
                        branch.name()));
    }

    /** Resolves a root field for an authenticated caller. */
    @FunctionalInterface
    interface Action {
        Mono<?> of(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments);
    }

    /** The services of the App-Proxy for this handler. */
    record Services(Access access, Integrations integrations, GitTokens tokens) {}
}
