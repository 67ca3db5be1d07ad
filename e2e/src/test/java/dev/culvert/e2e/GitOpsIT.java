package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.e2e.GitOps.Answer;
import dev.culvert.standins.git.HostedUser;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A GitOps client's work through edge, tunnel, router, App-Proxy and control plane: it lists repositories and commits, as
 * far as it may, and leaves no Git token behind. Everything that is logged meanwhile is kept.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GitOpsIT {
    private static final int REPOSITORIES = 250;
    private static final String SHOP = "acme/shop-1";
    private static final String HER_TOKEN = "ghp_JoZ4x81LkPq0sOwnGitToken";
    private static final String REFUSED_TOKEN = "ghp_ThatNoProvider9KnowsOf7";

    @TempDir
    static Path folder;

    private static LogLines log;
    private static GitOps ops;

    @BeforeAll
    static void start() throws Exception {
        log = new LogLines();
        ops = new GitOps(folder, Duration.ofSeconds(60));
        for (int i = 1; i <= REPOSITORIES; i++) {
            ops.host.repository("acme/shop-" + i);
        }
        ops.host.user(new HostedUser("jo", HER_TOKEN, List.of("repo"), true));
        for (ProviderKind kind : kinds()) {
            ops.host.user(new HostedUser("root", token(kind), List.of("repo", "api"), true));
            Answer answer = ops.register(ops.adminKey(), kind, "root", token(kind));
            assertThat(answer.status()).as(answer.json().toString()).isEqualTo(200);
        }
    }

    @AfterAll
    static void stop() {
        ops.close();
        log.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FOLDER")
    void pageByPageEachRepositoryComesOnce(ProviderKind kind) {
        var names = new ArrayList<String>();
        JsonNode page;
        int number = 0;
        do {
            page = list(ops.adminKey(), kind, ++number).json().at("/data/gitRepositories");
            assertThat(page.path("count").intValue()).isBetween(1, 100);
            page.path("data").forEach(repository -> names.add(repository.path("fullName").textValue()));
        } while (page.path("hasNext").booleanValue());

        assertThat(number).isEqualTo(3);
        assertThat(names).hasSize(REPOSITORIES)
                .doesNotHaveDuplicates()
                .allSatisfy(name -> assertThat(name).startsWithIgnoringCase("acme/shop-"));
    }

    @Test
    void aPlainCloneHasTheCommitAndAStaleOneIsRefused() throws Exception {
        Answer made = commit(ops.adminKey(), "values.yaml", null, "replicas: 1\n");
        assertThat(made.status()).as(made.json().toString()).isEqualTo(200);
        JsonNode landed = made.json().at("/data/commitFiles");

        git("clone", "--quiet", url(token(ProviderKind.GITHUB)), "clone");
        assertThat(git("-C", "clone", "log", "-1", "--format=%H %an <%ae> %s"))
                .isEqualTo(landed.path("sha").textValue() + " " + landed.at("/committer/name").textValue()
                        + " <" + landed.at("/committer/email").textValue() + "> Change values.yaml");
        assertThat(folder.resolve("clone/values.yaml")).hasContent("replicas: 1\n");

        String first = git("-C", "clone", "rev-parse", "HEAD:values.yaml");
        assertThat(commit(ops.adminKey(), "values.yaml", first, "replicas: 2\n").status()).isEqualTo(200);
        String before = bare("rev-parse", "main");
        Answer stale = commit(ops.adminKey(), "values.yaml", first, "replicas: 3\n");
        assertThat(stale.status()).isEqualTo(409);
        assertThat(stale.json().at("/errors/0/extensions/code").textValue()).isEqualTo("conflict");
        assertThat(stale.json().at("/errors/0/message").textValue())
                .contains(bare("rev-parse", "main:values.yaml"));
        assertThat(bare("rev-parse", "main")).isEqualTo(before);
    }

    @Test
    void withoutPermissionNothingChangesAndWithARuleAUserCommits() throws Exception {
        String jo = ops.made("/api/users", Map.of("name", "Jo Doe", "email", "jo@acme.test"))
                .path("id")
                .textValue();
        String key = ops.made("/api/keys", Map.of("user", jo)).path("key").textValue();
        String rule = allow(jo, List.of("CREATE", "VIEW"), Map.of());
        await().atMost(GitOps.PATIENCE)
                .until(() -> ops.register(key, ProviderKind.GITHUB, "jo", HER_TOKEN).status() == 200);
        assertThat(list(key, ProviderKind.GITHUB, 1).status()).isEqualTo(200);
        ops.remove("/api/abac/" + rule);
        await().atMost(GitOps.PATIENCE).until(() -> list(key, ProviderKind.GITHUB, 1).status() == 403);
        String before = bare("for-each-ref");

        assertThat(commit(key, "jo.yaml", null, "x: 1\n").status()).isEqualTo(403);
        assertThat(commit("nobody", "jo.yaml", null, "x: 1\n").status()).isEqualTo(401);
        assertThat(bare("for-each-ref")).isEqualTo(before);
        allow(jo, List.of("CREATE"), Map.of("repository", List.of(SHOP), "branch", List.of("main")));
        await().atMost(GitOps.PATIENCE).until(() -> commit(key, "jo.yaml", null, "x: 1\n").status() == 200);

        git("clone", "--quiet", url(HER_TOKEN), "hers");
        assertThat(git("-C", "hers", "log", "-1", "--format=%an <%ae> %s", "--", "jo.yaml"))
                .isEqualTo("Jo Doe <jo@acme.test> Change jo.yaml");
        assertThat(folder.resolve("hers/jo.yaml")).hasContent("x: 1\n");
        assertThat(Files.readString(ops.parts.resolve("audit/audit-changes.log"))).contains(SHOP + "@main",
                jo);
    }

    /** Comes last, so that it sees what all the others left. */
    @Test
    @Order(Integer.MAX_VALUE)
    void noGitTokenIsInAnyFileOrLine() throws Exception {
        assertThat(ops.register(ops.adminKey(), ProviderKind.GITHUB, "eve", REFUSED_TOKEN).status())
                .isNotEqualTo(200);
        assertThat(ops.ask(ops.adminKey(), "mutation{registerToGitIntegration(args:{nam:\"github\",token:\""
                + REFUSED_TOKEN + "\"}){", Map.of()).status()).isEqualTo(400);
        String takenForKey = token(ProviderKind.GITEA);
        assertThat(list(takenForKey, ProviderKind.GITEA, 1).status()).isEqualTo(401);
        ops.host.forget(token(ProviderKind.GITHUB));
        assertThat(list(ops.adminKey(), ProviderKind.GITHUB, 1).status()).isNotEqualTo(200);
        assertThat(commit(ops.adminKey(), "late.yaml", null, "").status()).isNotEqualTo(200);
        var tokens = new ArrayList<>(kinds().stream().map(GitOpsIT::token).toList());
        tokens.addAll(List.of(HER_TOKEN, REFUSED_TOKEN));
        var search = new SecretSearch(tokens);

        assertThat(log.all()).as("lines of all parts").hasSizeGreaterThan(1000);
        assertThat(new SecretSearch(List.of("acme")).in(ops.parts.resolve("plane"))).isNotEmpty();
        assertThat(new SecretSearch(List.of(HER_TOKEN)).in(folder.resolve("hers"))).isNotEmpty();
        assertThat(log.all()).noneMatch(line -> !search.in(line).isEmpty());
        assertThat(search.in(ops.parts)).isEmpty();
    }

    private static List<ProviderKind> kinds() {
        return List.of(ProviderKind.GITHUB, ProviderKind.GITLAB, ProviderKind.BITBUCKET,
                ProviderKind.BITBUCKET_SERVER, ProviderKind.GITEA);
    }

    private static String token(ProviderKind kind) {
        return "root-Git-Token-of-" + kind.key() + "-Q7x";
    }

    private static String allow(String user, List<String> actions, Map<String, ?> attributes) {
        return ops.made("/api/abac", Map.of("entity", "gitContexts", "actions", actions, "users",
                List.of(user), "attributes", attributes)).path("id").textValue();
    }

    private static Answer list(String key, ProviderKind kind, int page) {
        return ops.ask(key,
                "query($args:GitRepositoriesArgs){gitRepositories(args:$args){count hasNext data{fullName}}}",
                Map.of("integrationName", kind.key(), "page", page, "limit", 100));
    }

    private static Answer commit(String key, String path, @Nullable String revision, String data) {
        Map<String, Object> file = new HashMap<>(Map.of("path", path, "data", data));
        if (revision != null) {
            file.put("revision", revision);
        }
        return ops.ask(key,
                "mutation($args:CommitFilesArgs!){commitFiles(args:$args){sha committer{name email}}}",
                Map.of("integrationName", "github", "repo", SHOP, "branchName", "main", "msg",
                        "Change " + path, "files", List.of(file)));
    }

    private static String url(String token) {
        return ops.provider(ProviderKind.GITHUB)
                .cloneUrl(SHOP)
                .toString()
                .replace("://", "://git:" + token + "@");
    }

    private static String bare(String... arguments) throws IOException, InterruptedException {
        var all = new ArrayList<>(List.of("-C", "host/" + SHOP + ".git"));
        all.addAll(List.of(arguments));
        return git(all.toArray(String[]::new));
    }

    private static String git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"));
        builder.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
        builder.environment()
                .putAll(Map.of("GIT_CONFIG_NOSYSTEM", "1", "GIT_CONFIG_GLOBAL", "/dev/null",
                        "GIT_TERMINAL_PROMPT", "0", "LC_ALL", "C"));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output.strip();
    }
}
