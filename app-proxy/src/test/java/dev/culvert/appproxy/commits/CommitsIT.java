package dev.culvert.appproxy.commits;

import static dev.culvert.appproxy.GitCommand.git;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.culvert.config.ByteSize;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.relay.testing.EventLoopWatch;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class CommitsIT {
    private static final Duration TIME = Duration.ofSeconds(60);
    private static final RequestContext CONTEXT = RequestContext.of("r1",
            InetSocketAddress.createUnresolved("127.0.0.1", 1));

    /** The largest file that the raw endpoint sends. */
    private static final int LARGE = 3 << 20;

    @TempDir
    static Path template;

    @TempDir
    Path temp;

    private final FakeAccess access = new FakeAccess();
    private final List<Commits> started = new ArrayList<>();
    private Path repositories = Path.of("");
    private Path work = Path.of("");
    private @Nullable GitHttpServer server;
    private @Nullable CommitsHandler handler;
    private @Nullable RawFiles rawFiles;

    /** Where the repositories are. */
    enum Way {
        FOLDER, HTTP, PARTIAL
    }

    @BeforeAll
    static void makeRepository() throws IOException, InterruptedException {
        EventLoopWatch.install();
        Path work = Files.createDirectory(template.resolve("work"));
        git(template, "init", "--quiet", "--template=", "--bare", "--initial-branch=main",
                "repositories/shop.git");
        git(work, "init", "--quiet", "--template=", "--initial-branch=main");
        git(work, "remote", "add", "origin", "../repositories/shop.git");
        Files.createDirectories(work.resolve("apps/web"));
        Files.writeString(work.resolve("apps/web/values.yaml"), "replicas: 1\n");
        Files.writeString(work.resolve("README.md"), "the shop\n");
        git(work, "add", ".");
        git(work, "commit", "--quiet", "-m", "first");
        git(work, "push", "--quiet", "origin", "main");
    }

    @BeforeEach
    void copyRepository() throws IOException {
        try (var files = Files.walk(template)) {
            for (Path file : files.skip(1).toList()) {
                Files.copy(file, temp.resolve(template.relativize(file)));
            }
        }
        repositories = temp.resolve("repositories");
        work = temp.resolve("work");
        server = new GitHttpServer(repositories);
    }

    @AfterEach
    void stop() {
        Objects.requireNonNull(server).close();
        started.forEach(commits -> commits.stop(Duration.ZERO).block(TIME));
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "PARTIAL"})
    void aCommitLandsWithAuthorMessageAndContent(Way way) throws IOException, InterruptedException {
        start(way);
        String revision = Objects.requireNonNull(read("ada", "apps/web/values.yaml")).revision();

        CommitResult result = commit("ada", file("apps/web/values.yaml", revision, "replicas: 2\n"),
                file("apps/new/größe.yaml", null, "x: 1\n"));

        Path clone = cloned();
        assertThat(git(clone, "log", "-1", "--format=%H|%an|%ae|%cn|%ce|%B"))
                .isEqualTo(result.sha()
                        + "|ada of Acme|ada@acme.test|ada of Acme|ada@acme.test|Change it\n\nand why");
        assertThat(clone.resolve("apps/web/values.yaml")).hasContent("replicas: 2\n");
        assertThat(clone.resolve("apps/new/größe.yaml")).hasContent("x: 1\n");
        assertThat(clone.resolve("README.md")).hasContent("the shop\n");
        assertThat(git(clone, "rev-list", "--count", "HEAD")).isEqualTo("2");
        assertThat(git(repositories.resolve("shop.git"), "fsck", "--strict", "--no-progress")).isEmpty();
        assertThat(result.committer()).isEqualTo(new CommitResult.Person("ada of Acme", "ada@acme.test"));
        assertThat(result.message()).isEqualTo("Change it\n\nand why");
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "HTTP"})
    void aStaleRevisionIsAConflictThatTellsTheCurrentOne(Way way) throws IOException, InterruptedException {
        start(way);
        String stale = Objects.requireNonNull(read("ada", "README.md")).revision();
        commit("bob", file("README.md", stale, "by bob\n"));
        String current = git(repositories.resolve("shop.git"), "rev-parse", "main:README.md");

        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> commit("ada", file("README.md", stale, "by ada\n")))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.CONFLICT))
                .withMessage("README.md is at revision " + current + ", not at " + stale);
        assertThat(Objects.requireNonNull(read("ada", "README.md")).data()).isEqualTo("by bob\n");
        commitWith("ada", Map.of("force", true), file("README.md", stale, "by force\n"));
        assertThat(cloned().resolve("README.md")).hasContent("by force\n");
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "PARTIAL"})
    void whatOthersPushedMeanwhileStays(Way way) throws IOException, InterruptedException {
        start(way);
        commit("ada", file("one", null, "1"));
        git(work, "pull", "--quiet", "origin", "main");
        Files.writeString(work.resolve("README.md"), "pushed\n");
        git(work, "commit", "--quiet", "-am", "pushed");
        git(work, "push", "--quiet", "origin", "main");

        commit("bob", file("two", null, "2"));

        Path clone = cloned();
        assertThat(clone.resolve("README.md")).hasContent("pushed\n");
        assertThat(clone.resolve("one")).hasContent("1");
        assertThat(clone.resolve("two")).hasContent("2");
        assertThat(git(clone, "rev-list", "--count", "HEAD")).isEqualTo("4");
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "HTTP"})
    void fiftyCommitsAtOnceByFiveUsersAllLand(Way way) throws IOException, InterruptedException {
        start(way);
        CommitsHandler first = handler();
        CommitsHandler second = handlerOf(way, "second");
        List<String> landed = new CopyOnWriteArrayList<>();
        List<Throwable> refused = new CopyOnWriteArrayList<>();

        // Two App-Proxies, which know nothing of each other, and a file that all want to make.
        Flux.range(0, 50).flatMap(i -> {
            String path = i % 10 == 9 ? "contended" : "files/" + i;
            return call(i % 2 == 0 ? first : second, "Mutation.commitFiles", "user" + i % 5,
                    args(Map.of(), file(path, null, "by " + i)))
                    .cast(CommitResult.class)
                    .doOnNext(result -> landed.add(result.sha()))
                    .doOnError(refused::add)
                    .onErrorComplete();
        }, 50).blockLast(TIME);

        assertThat(landed.size() + refused.size()).isEqualTo(50);
        assertThat(refused).hasSize(4)
                .allSatisfy(
                        error -> assertThat(((HandlerException) error).reason()).isEqualTo(Reason.CONFLICT));
        Path clone = cloned();
        List<String> line = List.of(git(clone, "log", "--first-parent", "--format=%H").split("\n"));
        assertThat(line).hasSize(47).containsAll(landed);
        assertThat(git(clone, "rev-list", "--count", "HEAD")).isEqualTo("47");
        assertThat(git(clone, "rev-list", "--min-parents=2", "HEAD")).isEmpty();
        assertThat(git(clone, "log", "--format=%an").lines().distinct()).hasSize(6);
        assertThat(git(clone, "ls-files", "files").lines()).hasSize(45);
        assertThat(git(repositories.resolve("shop.git"), "fsck", "--strict", "--full", "--no-progress",
                "--no-dangling")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "HTTP"})
    void pathsThroughLinksAndSubmodulesAreRefused(Way way) throws IOException, InterruptedException {
        Files.createSymbolicLink(work.resolve("link"), Path.of("apps"));
        git(work, "add", "link");
        git(work, "update-index", "--add", "--cacheinfo",
                "160000," + git(work, "rev-parse", "HEAD") + ",module");
        git(work, "commit", "--quiet", "-m", "traps");
        git(work, "push", "--quiet", "origin", "main");
        start(way);

        for (String path : List.of("link/passwd", "module/x", "README.md/x", "link", "module", "apps", "../x",
                ".git/config", "/x")) {
            assertThatExceptionOfType(HandlerException.class).as(path)
                    .isThrownBy(() -> commitWith("ada", Map.of("force", true), file(path, null, "x")))
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.BAD_REQUEST));
        }
        assertThat(git(work, "ls-remote", "origin", "main")).startsWith(git(work, "rev-parse", "HEAD"));
    }

    @Test
    void aCommitWhoseAnswerWasLostIsFoundToHaveLanded() throws IOException, InterruptedException {
        start(Way.HTTP);
        GitHttpServer remote = Objects.requireNonNull(server);
        remote.cutOff = request -> request.startsWith("POST") && request.endsWith("git-receive-pack");

        CommitResult result = commit("ada", file("new", null, "1"));

        assertThat(git(cloned(), "rev-parse", "HEAD")).isEqualTo(result.sha());
    }

    @Test
    void theProvidersWordOnTheTokenCounts() throws IOException {
        start(Way.HTTP);
        commit("ada", file("new", null, "1"));

        for (String user : List.of("mallory", "newcomer", "nobody")) {
            assertThatExceptionOfType(HandlerException.class).as(user)
                    .isThrownBy(() -> read(user, "README.md"))
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.FORBIDDEN));
            assertThatExceptionOfType(HandlerException.class).as(user)
                    .isThrownBy(() -> commit(user, file("more", null, "1")))
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.FORBIDDEN));
        }
        assertThat(access.changed).noneMatch(operation -> operation.object().contains("nobody"));
    }

    @Test
    void aWarmMirrorNeedsTwoRequestsACommit() throws IOException {
        start(Way.HTTP);
        commit("ada", file("one", null, "1"));
        GitHttpServer remote = Objects.requireNonNull(server);
        remote.requests.clear();

        commit("ada", file("two", null, "2"));

        assertThat(remote.requests).containsExactly("GET /shop.git/info/refs?service=git-receive-pack",
                "POST /shop.git/git-receive-pack");
    }

    @Test
    void filesAreLeftOutWhereTheRemoteCan() throws IOException, InterruptedException {
        byte[] large = new byte[LARGE];
        new Random(7).nextBytes(large);
        Files.write(work.resolve("large"), large);
        git(work, "add", ".");
        git(work, "commit", "--quiet", "-m", "large");
        git(work, "push", "--quiet", "origin", "main");
        start(Way.PARTIAL);

        commit("ada", file("new", null, "1"));

        assertThat(bytesBelow(temp.resolve("cache-first"))).isLessThan(1 << 20);
        assertThat(body(raw("GET", "ada", "?repo=shop&branchName=main&path=large", ""))).isEqualTo(large);
        git(repositories.resolve("shop.git"), "fsck", "--strict", "--no-progress");
    }

    @Test
    void oldServersGiveWholeBranches() throws IOException, InterruptedException {
        Objects.requireNonNull(server).old = true;
        start(Way.PARTIAL);
        commit("ada", file("new", null, "1"));

        assertThat(Objects.requireNonNull(read("ada", "README.md")).data()).isEqualTo("the shop\n");
        commit("ada", file("newer", null, "2"));

        assertThat(git(cloned(), "ls-files").lines()).hasSize(4);
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "HTTP"})
    void deletesMakesBranchesAndFirstCommits(Way way) throws IOException, InterruptedException {
        git(repositories, "init", "--quiet", "--bare", "--initial-branch=main", "empty.git");
        start(way);

        call(handler(), "Mutation.deleteFiles", "ada", args(Map.of(), Map.of("path", "apps/web/values.yaml")))
                .block(TIME);
        commitWith("ada", Map.of("branchName", "feature/x", "baseBranch", "main"), file("f", null, "1"));
        commitWith("ada", Map.of("repo", "empty"), file("f", null, "1"));

        Path clone = cloned();
        assertThat(git(clone, "ls-files")).isEqualTo("README.md");
        assertThat(git(clone, "ls-tree", "-r", "--name-only", "origin/feature/x")).isEqualTo("README.md\nf");
        assertThat(git(repositories.resolve("empty.git"), "ls-tree", "--name-only", "main")).isEqualTo("f");
        failsWith(Reason.NOT_FOUND,
                () -> commitWith("ada", Map.of("branchName", "none"), file("f", null, "1")));
        failsWith(Reason.NOT_FOUND, () -> commitWith("ada", Map.of("repo", "none"), file("f", null, "1")));
        failsWith(Reason.NOT_FOUND, () -> read("ada", "none"));
        failsWith(Reason.CONFLICT,
                () -> commitWith("ada", Map.of("force", true), file("README.md", null, "the shop\n")));
        failsWith(Reason.BAD_REQUEST,
                () -> commitWith("ada", Map.of("branchName", "a..b"), file("f", null, "1")));
    }

    @Test
    void aHiddenBranchIsNoBaseOfAnother() throws IOException, InterruptedException {
        start(Way.FOLDER);
        access.hidden.add("main");

        failsWith(Reason.FORBIDDEN,
                () -> commitWith("ada", Map.of("branchName", "feature/x", "baseBranch", "main"),
                        file("f", null, "1")));
        failsWith(Reason.FORBIDDEN,
                () -> call(handler(), "Mutation.createPromotionPullRequest", "ada", args(
                        Map.of("head", "promote", "base", "main", "title", "Promote"), file("f", null, "1")))
                        .block(TIME));

        assertThat(git(repositories.resolve("shop.git"), "branch", "--list")).isEqualTo("* main");
        assertThat(access.changed).isEmpty();
    }

    @Test
    void theAuditNamesTheBaseOfABranch() throws IOException {
        start(Way.FOLDER);

        commitWith("ada", Map.of("branchName", "feature/x", "baseBranch", "main"), file("f", null, "1"));

        assertThat(access.changed).singleElement()
                .satisfies(operation -> assertThat(operation.object())
                        .isEqualTo("shop@feature/x from main"))
                .satisfies(operation -> assertThat(operation.attributes()).containsEntry("branch",
                        "feature/x"));
    }

    @Test
    void limitsOfFilesHold() throws IOException {
        start(Way.FOLDER);
        String large = "a".repeat((5 << 20) + 1);

        failsWith(Reason.BODY_TOO_LARGE, () -> commit("ada", file("f", null, large)));
        Map<?, ?>[] many = new Map<?, ?>[501];
        Arrays.setAll(many, i -> file("f" + i, null, ""));
        failsWith(Reason.BAD_REQUEST, () -> commitWith("ada", Map.of(), many));
        Map<?, ?>[] heavy = new Map<?, ?>[5];
        Arrays.setAll(heavy, i -> file("f" + i, null, large.substring(2)));
        failsWith(Reason.BODY_TOO_LARGE, () -> commitWith("ada", Map.of(), heavy));
        failsWith(Reason.BAD_REQUEST,
                () -> commitWith("ada", Map.of("msg", "m".repeat(20_000)), file("f", null, "")));
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "PARTIAL"})
    void largeFilesAreReadRaw(Way way) throws IOException, InterruptedException {
        byte[] content = new byte[LARGE];
        new Random(7).nextBytes(content);
        Files.write(work.resolve("a b\".bin"), content);
        Files.write(work.resolve("larger"), new byte[LARGE + 1]);
        Files.write(work.resolve("empty"), new byte[0]);
        Files.write(work.resolve("binary"), Arrays.copyOf(content, 1000));
        git(work, "add", ".");
        git(work, "commit", "--quiet", "-m", "large");
        content[LARGE / 2]++;
        Files.write(work.resolve("a b\".bin"), content);
        git(work, "commit", "--quiet", "-am", "changed: what Git stores as a difference");
        git(work, "repack", "-adfq", "--depth=10");
        git(work, "push", "--quiet", "origin", "main");
        git(repositories.resolve("shop.git"), "repack", "-adq");
        start(way);
        String query = "?repo=shop&branchName=main&path=a+b%22.bin";
        String blob = git(work, "rev-parse", "HEAD:a b\".bin");

        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> read("ada", "a b\".bin"))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.BODY_TOO_LARGE))
                .withMessageContaining("at most 1048576: GET /app-proxy/api/files?repo=shop&branchName=main"
                        + "&path=a%20b%22.bin&integrationName=fake");
        EdgeResponse.Http whole = raw("GET", "ada", query, "");
        assertThat(body(whole)).isEqualTo(content);
        assertThat(whole.headers().entries()).extracting(Map.Entry::getKey, Map.Entry::getValue)
                .contains(tuple("etag", '"' + blob + '"'), tuple("content-length", "" + LARGE),
                        tuple("content-type", "application/octet-stream"),
                        tuple("x-content-type-options", "nosniff"),
                        tuple("content-security-policy", "default-src 'none'; sandbox"),
                        tuple("content-disposition",
                                "attachment; filename=\"a_b_.bin\"; filename*=UTF-8''a%20b%22.bin"));
        EdgeResponse.Http known = raw("GET", "ada", query, "\"other\", W/\"" + blob + '"');
        assertThat(known.status().code()).isEqualTo(304);
        assertThat(known.headers().get("etag")).isEqualTo('"' + blob + '"');
        EdgeResponse.Http head = raw("HEAD", "ada", query, "\"other\"");
        assertThat(head.headers().get("content-length")).isEqualTo("" + LARGE);
        assertThat(body(head)).isEmpty();
        assertThat(body(raw("GET", "ada", "?repo=shop&branchName=main&path=empty", ""))).isEmpty();
        assertThat(Objects.requireNonNull(read("ada", "binary")).encoding()).isEqualTo("BASE64");
        failsWith(Reason.BODY_TOO_LARGE,
                () -> raw("GET", "ada", "?repo=shop&branchName=main&path=larger", ""));
        failsWith(Reason.NOT_FOUND, () -> raw("GET", "ada", "?repo=shop&branchName=main&path=none", ""));
        failsWith(Reason.BAD_REQUEST, () -> raw("GET", "ada", "?repo=shop&branchName=main", ""));
        failsWith(Reason.METHOD_NOT_ALLOWED, () -> raw("POST", "ada", query, ""));
        failsWith(Reason.FORBIDDEN, () -> raw("GET", "nobody", query, ""));
        access.hidden.add("main");
        failsWith(Reason.FORBIDDEN, () -> raw("GET", "ada", query, '"' + blob + '"'));
        assertThat(Objects.requireNonNull(rawFiles).open()).isZero();
    }

    /** Others commit to and read from the repository meanwhile; what the slow caller gets is what it asked for. */
    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"FOLDER", "PARTIAL"})
    void aSlowReaderOfARawFileHoldsNobodyUp(Way way) throws IOException, InterruptedException {
        start(way);
        EdgeResponse.Http slow = raw("GET", "ada", "?repo=shop&branchName=main&path=README.md", "");

        commitWith("bob", Map.of("force", true), file("README.md", null, "by bob\n"));

        assertThat(Objects.requireNonNull(rawFiles).open()).isOne();
        assertThat(new String(body(slow), StandardCharsets.UTF_8)).isEqualTo("the shop\n");
        assertThat(body(raw("GET", "ada", "?repo=shop&branchName=main&path=README.md", "")))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("by bob\n");
        assertThat(Objects.requireNonNull(rawFiles).open()).isZero();
    }

    private EdgeResponse.Http raw(String method, String user, String query, String known) {
        var headers = new DefaultHttpHeaders().set("authorization", user);
        if (!known.isEmpty()) {
            headers.set("if-none-match", known);
        }
        var request = new EdgeRequest(HttpMethod.valueOf(method), "/app-proxy/api/files" + query, headers,
                Flux.empty(), CONTEXT);
        return (EdgeResponse.Http) Objects.requireNonNull(handler().handle(request).block(TIME));
    }

    /** The body, read as the server does: with what is held for it. */
    private static byte[] body(EdgeResponse.Http response) {
        var bytes = new ByteArrayOutputStream();
        Mono.firstWithSignal(response.hold(), response.body().doOnNext(part -> {
            bytes.writeBytes(ByteBufUtil.getBytes(part));
            part.release();
        }).then()).block(TIME);
        return bytes.toByteArray();
    }

    @Test
    void whereThereAreNoPullRequestsNothingIsCommittedForOne() throws IOException, InterruptedException {
        start(Way.FOLDER);

        failsWith(Reason.BAD_REQUEST,
                () -> call(handler(), "Mutation.createPromotionPullRequest", "ada", args(
                        Map.of("head", "promote", "base", "main", "title", "Promote"), file("f", null, "1")))
                        .block(TIME));

        assertThat(git(repositories.resolve("shop.git"), "branch", "--list", "promote")).isEmpty();
    }

    private static void failsWith(Reason reason, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatExceptionOfType(HandlerException.class).isThrownBy(call)
                .satisfies(error -> assertThat(error.reason()).isEqualTo(reason));
    }

    private void start(Way way) {
        handler = handlerOf(way, "first");
    }

    private CommitsHandler handler() {
        return Objects.requireNonNull(handler);
    }

    private CommitsHandler handlerOf(Way way, String name) {
        try {
            git(repositories.resolve("shop.git"), "config", "uploadpack.allowFilter",
                    "" + (way == Way.PARTIAL));
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        var integration = way == Way.FOLDER
                ? FakeIntegration.of(repositories)
                : FakeIntegration.of(Objects.requireNonNull(server));
        var usual = CommitsSettings.of(temp.resolve("cache-" + name), null);
        // Of two App-Proxies one may lose often: on a busy machine ten times in a row, which is no matter of this test.
        var settings = new CommitsSettings(usual.cacheFolder(), usual.cacheBytes(),
                usual.cacheRepositories(), usual.maxFileBytes(), usual.maxCommitBytes(), usual.maxFiles(),
                usual.maxReadBytes(), new ByteSize(LARGE), usual.maxRawReads(), usual.maxCommits(),
                usual.maxWaiting(), 100, usual.timeout(), null);
        var commits = new Commits(settings, new FakeTokens());
        commits.start().block(TIME);
        started.add(commits);
        rawFiles = new RawFiles(settings, commits);
        return new CommitsHandler(
                new CommitsHandler.Services(access, new FakeIntegrations(integration), new FakeTokens()),
                commits, rawFiles,
                new CommitDrafts(settings, InstantSource.system()), null);
    }

    private Path cloned() throws IOException, InterruptedException {
        git(temp, "clone", "--quiet", repositories.resolve("shop.git").toString(), "clone");
        return temp.resolve("clone");
    }

    private CommitResult commit(String user, Map<?, ?>... files) {
        return commitWith(user, Map.of(), files);
    }

    private CommitResult commitWith(String user, Map<String, Object> more, Map<?, ?>... files) {
        return Objects.requireNonNull(
                (CommitResult) call(handler(), "Mutation.commitFiles", user, args(more, files))
                        .block(TIME));
    }

    private @Nullable FileRead read(String user, String path) {
        return (FileRead) call(handler(), "Query.readFile", user, args(Map.of("path", path))).block(TIME);
    }

    private static Mono<Object> call(CommitsHandler handler, String field, String user,
            Map<String, Object> args) {
        var headers = new DefaultHttpHeaders().set("authorization", user);
        return Mono.defer(() -> Objects.requireNonNull(handler.fields().get(field))
                .call(new GraphQlCall(Map.of("args", args), headers, CONTEXT))).cast(Object.class);
    }

    private static Map<String, Object> args(Map<String, Object> more, Map<?, ?>... files) {
        Map<String, Object> args = new HashMap<>(
                Map.of("repo", "shop", "branchName", "main", "msg", "Change it", "description", "and why"));
        args.put("files", List.of(files));
        args.putAll(more);
        return args;
    }

    private static Map<String, Object> file(String path, @Nullable String revision, String data) {
        Map<String, Object> file = new HashMap<>(Map.of("path", path, "data", data));
        if (revision != null) {
            file.put("revision", revision);
        }
        return file;
    }

    private static long bytesBelow(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        }
    }
}
