package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.Caller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.edge.graphql.GraphQlCall;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** The fields' names. */
    static final Set<String> NAMES = Set.of(INIT, CREATE, EDIT, DELETE);

    private final Access access;
    private final Commits commits;
    private final Drafts drafts;
    private final SharedConfigurationTree tree;
    private final Supplier<Target> target;

    /** @param target asked for at each call: providers may be configured anew */
    SharedConfigurationFields(Access access, Commits commits, Drafts drafts, SharedConfigurationTree tree,
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

    private Mono<State> init(GraphQlCall call, Caller caller, Arguments arguments) {
        return change("CREATE", call, caller, "runtimes/" + tree.runtime(), Mono.defer(() -> {
            Target repository = target.get();
            Integration integration = repository.integration();
            Map<FilePath, Content> files = tree
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
        }));
    }

    private Mono<State> made(Target repository, Caller caller, List<FileChange> missing) {
        List<String> created = missing.stream().map(change -> change.path().text()).sorted().toList();
        if (created.isEmpty()) {
            return Mono.just(state(repository, created, null));
        }
        Draft draft = drafts.of(caller, tree.branch(), missing,
                "Set up the configuration of " + tree.runtime());
        return commits.commit(repository, caller, draft)
                .map(result -> state(repository, created, result.sha()));
    }

    private Mono<GitSource> create(GraphQlCall call, Caller caller, Arguments arguments) {
        if (arguments.flag("createRepo")) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "repositories are not made here: make it at the Git provider, then leave createRepo out");
        }
        String name = Applications.checkedName(arguments.required("appName"));
        FilePath path = tree.application(name);
        Content manifest = Content
                .of(Manifest.yaml(Applications.gitSource(tree.settings().namespace(), arguments)));
        var write = new FileChange.Write(path, Expected.NOTHING, manifest);
        return change("CREATE", call, caller, name,
                Mono.defer(() -> landed(caller, name, write, "Create Git Source " + name)));
    }

    private Mono<GitSource> edit(GraphQlCall call, Caller caller, Arguments arguments) {
        String name = Applications.checkedName(arguments.required("appName"));
        FilePath path = tree.application(name);
        return change("CREATE", call, caller, name, Mono.defer(() -> commits
                .read(target.get(), caller, tree.branch(), path)
                .flatMap(read -> {
                    Map<String, Object> edited = Applications.edited(
                            Manifest.object(read),
                            arguments, path.text());
                    return landed(caller, name, new FileChange.Write(path,
                            Expected.exactly(ObjectId.fromString(read.revision())),
                            Content.of(Manifest.yaml(edited))),
                            "Edit Git Source " + name);
                })));
    }

    private Mono<GitSource> delete(GraphQlCall call, Caller caller, Arguments arguments) {
        String name = Applications.checkedName(arguments.required("appName"));
        var delete = new FileChange.Delete(tree.application(name), Expected.ANYTHING);
        return change("DELETE_RESOURCE", call, caller, name,
                Mono.defer(() -> landed(caller, name, delete, "Delete application " + name)));
    }

    private Mono<GitSource> landed(Caller caller, String name, FileChange change, String message) {
        Draft draft = drafts.of(caller, tree.branch(), List.of(change), message);
        return commits.commit(target.get(), caller, draft)
                .map(result -> new GitSource(name, change.path().text(), result.sha()));
    }

    private <T> Mono<T> change(String action, GraphQlCall call, Caller caller, String object,
            Mono<T> change) {
        var settings = tree.settings();
        return access.change(caller, new Operation(action, "sharedConfiguration", object,
                Map.of("repository", settings.repository(), "branch", settings.branch(), "runtime",
                        tree.runtime(),
                        "gitSource", object)),
                call.context(), change);
    }

    private State state(Target repository, List<String> created, @Nullable String sha) {
        return new State(repository.repository(), tree.branch().name(), tree.root(), created, sha);
    }

    /** What {@code initSharedConfiguration} answers. */
    record State(String repository, String branch, String path, List<String> created, @Nullable String sha) {}

    /** What changes of Git Sources answer. */
    record GitSource(String appName, String path, String sha) {}
}
