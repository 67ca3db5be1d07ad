package dev.culvert.appproxy.commits;

import static dev.culvert.appproxy.GitCommand.git;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.appproxy.access.Operation;
import dev.culvert.appproxy.commits.CommitsSettings.SharedConfiguration;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedConfigurationIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final RequestContext CONTEXT = RequestContext.of("r1",
            InetSocketAddress.createUnresolved("127.0.0.1", 1));
    private static final String SPECIFIER = "https://git.test/acme/apps.git/env/prod?ref=stable";

    @TempDir
    Path temp;

    private final FakeAccess access = new FakeAccess();
    private Path repository = Path.of("");
    private Commits commits = new Commits(CommitsSettings.of(Path.of("none"), null), new FakeTokens());

    @BeforeEach
    void makeRepository() throws IOException, InterruptedException {
        git(temp, "init", "--quiet", "--bare", "--initial-branch=main", "isc.git");
        repository = temp.resolve("isc.git");
        commits = new Commits(CommitsSettings.of(temp.resolve("cache"), null), new FakeTokens());
        commits.start().block(TIME);
    }

    @AfterEach
    void stop() {
        commits.stop(Duration.ZERO).block(TIME);
    }

    @Test
    void theFirstRuntimeMakesTheTreeAndOthersTheirPart() throws IOException, InterruptedException {
        var made = (SharedConfigurationFields.State) call("prod", true, "initSharedConfiguration", Map.of());

        assertThat(git(repository, "ls-tree", "-r", "--name-only", "main").lines()).containsExactly(
                "resources/all-runtimes-all-clusters/.gitkeep", "resources/app-projects/.gitkeep",
                "resources/configurations/products/.gitkeep",
                "resources/configurations/promotion-flows/.gitkeep",
                "resources/configurations/promotion-policies/.gitkeep",
                "resources/configurations/promotion-templates/.gitkeep", "resources/control-planes/.gitkeep",
                "resources/runtimes/prod/.gitkeep", "runtimes/prod/in-cluster.yaml");
        assertThat(git(repository, "show", "main:runtimes/prod/in-cluster.yaml")).contains("name: in-cluster",
                "path: resources", "repoURL: " + repository.toUri(), "configurations/**/*.yaml",
                "selfHeal: true");
        assertThat(git(repository, "rev-parse", "main")).isEqualTo(made.sha());

        var again = (SharedConfigurationFields.State) call("prod", true, "initSharedConfiguration", Map.of());
        assertThat(again.created()).isEmpty();
        assertThat(again.sha()).isNull();
        var second = (SharedConfigurationFields.State) call("test", false, "initSharedConfiguration",
                Map.of());
        assertThat(second.created()).containsExactly("resources/runtimes/test/.gitkeep",
                "runtimes/test/in-cluster.yaml");
        assertThat(git(repository, "show", "main:runtimes/test/in-cluster.yaml"))
                .doesNotContain("configurations");
        assertThat(git(repository, "rev-list", "--count", "main")).isEqualTo("2");
    }

    @Test
    void aGitSourceIsMadeEditedAndDeleted() throws IOException, InterruptedException {
        call("prod", true, "initSharedConfiguration", Map.of());
        call("prod", true, "createGitSource",
                Map.of("appName", "shop", "appSpecifier", SPECIFIER, "destNamespace",
                        "shop", "include", "*.yaml: {a, 'b'}", "isInternal", true));
        String manifest = "main:resources/runtimes/prod/shop.yaml";
        assertThat(git(repository, "show", manifest)).contains("repoURL: https://git.test/acme/apps.git",
                "path: env/prod", "targetRevision: stable", "include: '*.yaml: {a, ''b''}'",
                "culvert.dev/entity: git-source", "culvert.dev/internal: 'true'", "namespace: shop");
        assertThat(git(repository, "log", "-1", "--format=%an|%s", "main"))
                .isEqualTo("ada of Acme|Create Git Source shop");

        fails(Reason.CONFLICT, "createGitSource", Map.of("appName", "shop", "appSpecifier", SPECIFIER));
        call("prod", true, "editGitSource", Map.of("appName", "shop", "include", "", "exclude", "x.yaml",
                "appSpecifier", "https://git.test/acme/apps.git"));
        assertThat(git(repository, "show", manifest))
                .contains("exclude: x.yaml", "path: .", "targetRevision: HEAD")
                .doesNotContain("include:");
        call("prod", true, "deleteApplication", Map.of("appName", "shop"));
        fails(Reason.NOT_FOUND, "deleteApplication", Map.of("appName", "shop"));
        fails(Reason.NOT_FOUND, "editGitSource", Map.of("appName", "shop"));
        assertThat(access.changed).allSatisfy(operation -> {
            assertThat(operation.entity()).isEqualTo("sharedConfiguration");
            assertThat(operation.attributes()).containsEntry("repository", "isc")
                    .containsEntry("runtime", "prod");
        });
    }

    @Test
    void rulesSeeWhereAGitSourceDeploys() {
        call("prod", true, "initSharedConfiguration", Map.of());
        access.asked.clear();

        call("prod", true, "createGitSource",
                Map.of("appName", "shop", "appSpecifier", SPECIFIER, "destNamespace", "shop", "destServer",
                        "https://edge.test"));
        call("prod", true, "editGitSource",
                Map.of("appName", "shop", "appSpecifier", "https://git.test/acme/other.git/x"));
        call("prod", true, "deleteApplication", Map.of("appName", "shop"));

        var first = Map.of("cluster", "https://edge.test", "namespace", "shop", "project", "apps",
                "sourceRepository",
                "https://git.test/acme/apps.git", "sourcePath", "env/prod", "sourceRevision", "stable");
        var second = Map.of("cluster", "https://edge.test", "namespace", "shop", "project", "apps",
                "sourceRepository",
                "https://git.test/acme/other.git", "sourcePath", "x", "sourceRevision", "HEAD");
        assertThat(access.asked).extracting(Operation::action)
                .containsExactly("CREATE", "CREATE", "CREATE", "DELETE_RESOURCE");
        assertThat(access.asked.get(0).attributes()).containsAllEntriesOf(first);
        assertThat(access.asked.get(1).attributes()).containsAllEntriesOf(second);
        assertThat(access.asked.get(2).attributes()).containsAllEntriesOf(first);
        assertThat(access.asked.get(3).attributes()).containsAllEntriesOf(second);
    }

    @Test
    void whoMayNotLearnsNothingOfApplications() {
        for (String field : List.of("editGitSource", "deleteApplication")) {
            assertThatExceptionOfType(HandlerException.class)
                    .isThrownBy(() -> call("nobody", "prod", true, field, Map.of("appName", "none")))
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.FORBIDDEN));
        }
        assertThat(access.changed).isEmpty();
    }

    @Test
    void namesAndSpecifiersAreChecked() {
        fails(Reason.BAD_REQUEST, "createGitSource", Map.of("appName", "../x", "appSpecifier", SPECIFIER));
        fails(Reason.BAD_REQUEST, "createGitSource", Map.of("appName", "x", "appSpecifier", "no"));
        fails(Reason.BAD_REQUEST, "createGitSource",
                Map.of("appName", "x", "appSpecifier", "https://u:p@git.test/a.git"));
        fails(Reason.BAD_REQUEST, "createGitSource",
                Map.of("appName", "x", "appSpecifier", "https://git.test/a.git/../b"));
        fails(Reason.BAD_REQUEST, "createGitSource",
                Map.of("appName", "x", "appSpecifier", SPECIFIER, "createRepo", true));
        for (String local : List.of("file:///srv/git/a.git", "file:/srv/a.git", "/srv/a.git",
                "ext::sh -c x.git",
                "http://127.0.0.1:3000/a.git", "https://localhost/a.git", "http://a.localhost./a.git",
                "http://169.254.169.254/a.git", "http://[::1]/a.git", "http://[fe80::1]/a.git",
                "http://[::ffff:127.0.0.1]/a.git", "http://[fd00:ec2::254]/a.git", "http://0/a.git",
                "http://2130706433/a.git", "http://0x7f.1/a.git", "http://127.1/a.git", "ssh://0.0.0.0/a.git",
                "http://metadata.google.internal/a.git", "http://100.100.100.200/a.git",
                "http://%6c/a.git")) {
            fails(Reason.BAD_REQUEST, "createGitSource", Map.of("appName", "x", "appSpecifier", local));
        }
    }

    @Test
    void localSourcesAreThoseOfTheConfiguration() {
        var allowed = List.of("file:/srv/git/");

        assertThat(SourceSpecifier.of("file:/srv/git/a.git/x", allowed).repository())
                .isEqualTo("file:/srv/git/a.git");
        assertThat(SourceSpecifier.of("https://10.0.0.7/a.git", allowed).path()).isEqualTo(".");
        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> SourceSpecifier.of("file:/srv/other/a.git", allowed));
    }

    private void fails(Reason reason, String field, Map<String, Object> args) {
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> call("prod", true, field, args))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(reason));
    }

    private Object call(String runtime, boolean configurationRuntime, String field,
            Map<String, Object> args) {
        return call("ada", runtime, configurationRuntime, field, args);
    }

    private Object call(String user, String runtime, boolean configurationRuntime, String field,
            Map<String, Object> args) {
        var shared = new SharedConfiguration("isc", null, "main", null, "argocd", "apps",
                configurationRuntime);
        var integration = FakeIntegration.of(temp);
        var settings = CommitsSettings.of(temp.resolve("cache"), shared);
        var drafts = new CommitDrafts(settings, InstantSource.system());
        var fields = new SharedConfigurationFields(access, commits, drafts,
                new SharedConfigurationTree(shared, runtime), () -> new Target(integration, "isc"));
        var services = new CommitsHandler.Services(access, new FakeIntegrations(integration),
                new FakeTokens());
        var handler = new CommitsHandler(services, commits, new RawFiles(settings, commits), drafts, fields);
        return Objects.requireNonNull(Objects.requireNonNull(handler.fields().get("Mutation." + field))
                .call(new GraphQlCall(Map.of("args", args),
                        new DefaultHttpHeaders().set("authorization", user),
                        CONTEXT))
                .block(TIME));
    }
}
