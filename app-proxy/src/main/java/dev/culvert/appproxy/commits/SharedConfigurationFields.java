package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jgit.lib.ObjectId;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Root fields that are commits to the shared configuration repository: its folders, and Git Sources. */
final class SharedConfigurationFields {
    private static final String INIT = "Mutation.initSharedConfiguration";
    private static final String CREATE = "Mutation.createGitSource";
    private static final String EDIT = "Mutation.editGitSource";
    private static final String DELETE = "Mutation.deleteApplication";
    private static final int MAX_MANIFEST_BYTES = 1 << 20;

    /** The fields' names. */
    static final Set<String> NAMES = Set.of(INIT, CREATE, EDIT, DELETE);

    private final Access access;
    private final Commits commits;
    private final CommitDrafts drafts;
    private final SharedConfigurationTree tree;
    private final Supplier<Target> target;

    /** @param target called for each request, because the configured providers may change */
    SharedConfigurationFields(Access access, Commits commits, CommitDrafts drafts,
            SharedConfigurationTree tree,
            Supplier<Target> target) {
        this.access = access;
        this.commits = commits;
        this.drafts = drafts;
        this.tree = tree;
        this.target = target;
    }

    Map<String, CommitsHandler.Action> actions() {
        return Map.of(INIT, this::init, CREATE, this::create, EDIT, this::edit, DELETE, this::delete);
    }

    private Mono<State> init(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments) {
        return change("CREATE", call, caller, "runtimes/" + tree.runtime(),
                new Plan<>(List.of(), Mono.defer(() -> {
                    Target repository = target.get();
                    Integration integration = repository.integration();
                    Map<FilePath, FileContent> files = tree
                            .files(integration.cloneUrl(repository.repository()).toString());
                    return commits.existing(repository, caller, tree.branch(), List.copyOf(files.keySet()))
                            .flatMap(existing -> {
                                List<FileChange> missing = new ArrayList<>();
                                files.forEach((path, content) -> {
                                    if (!existing.contains(path)) {
                                        missing.add(new FileChange.Write(path, Expected.NOTHING, content));
                                    }
                                });
                                return made(repository, caller, missing);
                            });
                })));
    }

    private Mono<State> made(Target repository, AuthenticatedCaller caller, List<FileChange> missing) {
        List<String> created = missing.stream().map(change -> change.path().text()).sorted().toList();
        if (created.isEmpty()) {
            return Mono.just(state(repository, created, null));
        }
        CommitDraft draft = drafts.of(caller, tree.branch(), missing,
                "Set up the configuration of " + tree.runtime());
        return commits.commit(repository, caller, draft)
                .map(result -> state(repository, created, result.sha()));
    }

    private Mono<GitSource> create(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments) {
        if (arguments.flag("createRepo")) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "repositories can't be created here: create it at the Git provider, then leave out createRepo");
        }
        String name = Applications.checkedName(arguments.required("appName"));
        var settings = tree.settings();
        Map<String, Object> made = Applications.gitSource(settings,
                arguments);
        var write = new FileChange.Write(tree.application(name), Expected.NOTHING,
                FileContent.of(Manifest.yaml(made)));
        return change("CREATE", call, caller, name, new Plan<>(List.of(Applications.attributes(made)),
                Mono.defer(() -> landed(caller, name, write, "Create Git Source " + name))));
    }

    private Mono<GitSource> edit(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments) {
        String name = Applications.checkedName(arguments.required("appName"));
        FilePath path = tree.application(name);
        return planned("CREATE", call, caller, name, path, read -> {
            Map<String, Object> object = Manifest.object(read);
            Map<String, String> before = Applications.attributes(object);
            Map<String, Object> edited = Applications.edited(tree.settings(), object, arguments, path.text());
            var write = new FileChange.Write(path, Expected.exactly(ObjectId.fromString(read.revision())),
                    FileContent.of(Manifest.yaml(edited)));
            return new Plan<>(List.of(Applications.attributes(edited), before),
                    Mono.defer(() -> landed(caller, name, write, "Edit Git Source " + name)));
        });
    }

    private Mono<GitSource> delete(GraphQlCall call, AuthenticatedCaller caller, CommitArguments arguments) {
        String name = Applications.checkedName(arguments.required("appName"));
        FilePath path = tree.application(name);
        return planned("DELETE_RESOURCE", call, caller, name, path, read -> {
            var delete = new FileChange.Delete(path,
                    Expected.exactly(ObjectId.fromString(read.revision())));
            return new Plan<>(List.of(Applications.attributes(Manifest.object(read))),
                    Mono.defer(() -> landed(caller, name, delete, "Delete application " + name)));
        });
    }

    /**
     * Plans a change. The manifest is read before the permission check. Callers without permission learn
     * nothing of it, not even whether it exists.
     */
    private Mono<GitSource> planned(String action, GraphQlCall call, AuthenticatedCaller caller, String name,
            FilePath path,
            Function<FileRead, Plan<GitSource>> plan) {
        return commits.read(target.get(), caller, tree.branch(), path, SharedConfigurationFields::admit)
                .map(plan)
                .onErrorResume(HandlerException.class,
                        failure -> Mono.just(new Plan<>(List.of(), Mono.error(failure))))
                .flatMap(planned -> change(action, call, caller, name, planned));
    }

    private static void admit(long manifestBytes) {
        if (manifestBytes > MAX_MANIFEST_BYTES) {
            throw HandlerException.of(Reason.BODY_TOO_LARGE, "the manifest has " + manifestBytes
                    + " bytes; at most " + MAX_MANIFEST_BYTES + " are read");
        }
    }

    private Mono<GitSource> landed(AuthenticatedCaller caller, String name, FileChange change,
            String message) {
        CommitDraft draft = drafts.of(caller, tree.branch(), List.of(change), message);
        return commits.commit(target.get(), caller, draft)
                .map(result -> new GitSource(name, change.path().text(), result.sha()));
    }

    private <T> Mono<T> change(String action, GraphQlCall call, AuthenticatedCaller caller, String object,
            Plan<T> plan) {
        List<Operation> operations = plan.attributes()
                .stream()
                .distinct()
                .map(more -> operation(action, object, more))
                .toList();
        return operations.isEmpty()
                ? access.change(caller, operation(action, object, Map.of()), call.context(), plan.change())
                : access.change(caller, operations.getFirst(), operations.subList(1, operations.size()),
                        call.context(), plan.change());
    }

    private Operation operation(String action, String object, Map<String, String> more) {
        var settings = tree.settings();
        Map<String, String> attributes = new HashMap<>(more);
        attributes.putAll(Map.of("repository", settings.repository(), "branch", settings.branch(), "runtime",
                tree.runtime(), "gitSource", object));
        return new Operation(action, "sharedConfiguration", object, attributes);
    }

    /**
     * A change of an Application.
     *
     * @param attributes the attributes of the Application after and before the change; the caller needs
     *        permission for both
     */
    private record Plan<T>(List<Map<String, String>> attributes, Mono<T> change) {}

    private State state(Target repository, List<String> created, @Nullable String sha) {
        return new State(repository.repository(), tree.branch().name(), tree.root(), created, sha);
    }

    /** The result of {@code initSharedConfiguration}. */
    record State(String repository, String branch, String path, List<String> created, @Nullable String sha) {}

    /** The result of changes of Git Sources. */
    record GitSource(String appName, String path, String sha) {}
}
