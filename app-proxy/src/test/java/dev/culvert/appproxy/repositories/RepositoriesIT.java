package dev.culvert.appproxy.repositories;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Repository;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.PemFiles;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.standins.git.BitbucketApi;
import dev.culvert.standins.git.BitbucketServerApi;
import dev.culvert.standins.git.GitHost;
import dev.culvert.standins.git.GitProviderServer;
import dev.culvert.standins.git.GiteaApi;
import dev.culvert.standins.git.GithubApi;
import dev.culvert.standins.git.GitlabApi;
import dev.culvert.standins.git.HostedUser;
import dev.culvert.standins.git.ProviderStandIn;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.jgit.lib.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** All kinds of integration against stand-ins with TLS, one folder of 250 bare repositories behind all of them. */
class RepositoriesIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final int COUNT = 250;
    private static final GitToken TOKEN = new GitToken("alice", "t-alice");
    private static final GitToken READER = new GitToken("bob", "t-bob");
    private static final Scheduler BLOCKING = Schedulers.newBoundedElastic(2, 100, "folders");
    private static final Map<ProviderKind, GitProviderServer> SERVERS = new HashMap<>();

    @TempDir
    static Path temp;

    private static ConfiguredIntegrations integrations;
    private static GitHost host;
    private static ObjectId commit = ObjectId.zeroId();

    @BeforeAll
    static void start() throws IOException {
        EventLoopWatch.install();
        host = new GitHost(temp.resolve("host"))
                .user(new HostedUser("alice", TOKEN.value(), List.of("repo", "api"), true))
                .user(new HostedUser("bob", READER.value(), List.of(), false));
        for (int i = 1; i <= COUNT; i++) {
            host.repository((i % 3 == 0 ? "acme" : "zoo") + "/shop-" + i);
        }
        commit = FirstCommit.to(host.folder().resolve("zoo/shop-1.git"), Arrays.stream(ProviderKind.values())
                .map(kind -> "change-" + kind.key())
                .toList());
        var authority = CertificateAuthority.create("git test", Clock.systemUTC());
        Path ca = temp.resolve("ca.crt");
        PemFiles.writeCertificates(ca, List.of(authority.certificate()));
        var tls = authority.issueServer(List.of("localhost"), List.of(InetAddress.getLoopbackAddress()),
                Duration.ofDays(1));
        var configs = new ArrayList<IntegrationConfig>();
        for (var api : Map.<ProviderKind, ProviderStandIn>of(ProviderKind.GITHUB, new GithubApi(),
                ProviderKind.GITLAB, new GitlabApi(), ProviderKind.BITBUCKET, new BitbucketApi(),
                ProviderKind.BITBUCKET_SERVER, new BitbucketServerApi(), ProviderKind.GITEA, new GiteaApi())
                .entrySet()) {
            GitProviderServer server = GitProviderServer.start(api.getValue(), host, tls);
            SERVERS.put(api.getKey(), server);
            configs.add(IntegrationConfig.provider(api.getKey().key(), api.getKey(), server.apiUrl(), ca));
        }
        configs.add(IntegrationConfig.folder("folder", host.folder()));
        configs.add(IntegrationConfig.provider("untrusted", ProviderKind.GITHUB,
                server(ProviderKind.GITHUB).apiUrl(), null));
        configs.add(
                IntegrationConfig.provider("nobody", ProviderKind.GITHUB, URI.create("http://127.0.0.1:1"),
                        null));
        integrations = ConfiguredIntegrations.of(config(configs), BLOCKING);
    }

    @AfterAll
    static void stop() {
        integrations.close().block(TIME);
        SERVERS.values().forEach(GitProviderServer::close);
        BLOCKING.dispose();
    }

    @ParameterizedTest
    @CsvSource({"GITHUB,30", "GITHUB,100", "GITLAB,30", "GITLAB,100", "BITBUCKET,30", "BITBUCKET,100",
            "BITBUCKET_SERVER,30", "BITBUCKET_SERVER,100", "GITEA,30", "GITEA,70", "GITEA,100", "FOLDER,30",
            "FOLDER,100"})
    void pageByPageEachRepositoryComesOnce(ProviderKind kind, int limit) {
        var names = new ArrayList<String>();
        RepositoriesPage page;
        int number = 0;
        do {
            page = page(kind, ++number, limit);
            assertThat(page.page()).isEqualTo(number);
            assertThat(page.count()).isEqualTo(page.data().size()).isLessThanOrEqualTo(limit);
            page.data().forEach(repository -> names.add(repository.fullName()));
        } while (page.hasNext());

        assertThat(names).hasSize(COUNT).doesNotHaveDuplicates();
        assertThat(number).isEqualTo((COUNT + limit - 1) / limit);
        assertThat(page(kind, number + 1, limit).data()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"BITBUCKET", "BITBUCKET_SERVER"})
    void aPageThatNobodyTurnedToIsFound(ProviderKind kind) {
        List<String> direct = page(kind, 4, 37).data().stream().map(Repository::fullName).toList();
        page(kind, 3, 37);

        assertThat(direct).hasSize(37)
                .isEqualTo(page(kind, 4, 37).data().stream().map(Repository::fullName).toList());
    }

    @ParameterizedTest
    @EnumSource
    void aRepositoryIsToldInFull(ProviderKind kind) {
        Repository first = page(kind, 1, 100).data()
                .stream()
                .filter(repository -> repository.fullName().equals("zoo/shop-1"))
                .findFirst()
                .orElseGet(() -> page(kind, 2, 100).data()
                        .stream()
                        .filter(repository -> repository.fullName().equals("zoo/shop-1"))
                        .findFirst()
                        .orElseThrow());

        assertThat(first.provider()).isEqualTo(kind.name());
        assertThat(first.cloneUrl()).isEqualTo(integration(kind).cloneUrl("zoo/shop-1").toString());
        assertThat(first.isRepoPrivate()).isTrue();
        assertThat(first.defaultBranch()).isIn("main", kind == ProviderKind.BITBUCKET_SERVER ? null : "main");
    }

    @Test
    void whatDidNotChangeIsAskedForWithItsValidator() {
        page(ProviderKind.GITHUB, 1, 33);
        RepositoriesPage again = page(ProviderKind.GITHUB, 1, 33);

        assertThat(again.data()).hasSize(33);
        assertThat(server(ProviderKind.GITHUB).calls())
                .anyMatch(call -> call.condition() != null && call.status() == 304
                        && call.target().contains("per_page=33"));
    }

    @Test
    void aShortRateLimitIsWaitedForAndALongOneTold() {
        var patient = new GitToken("alice2", "t-patient");
        host.user(new HostedUser("alice2", "t-patient", List.of(), false));
        server(ProviderKind.GITLAB).limitNext(1, Duration.ofSeconds(1));
        assertThat(Objects
                .requireNonNull(integration(ProviderKind.GITLAB).repositories(patient, 1, 10).block(TIME))
                .data()).hasSize(10);

        server(ProviderKind.GITHUB).limitNext(1, Duration.ofSeconds(100));
        assertThatThrownBy(() -> integration(ProviderKind.GITHUB).repositories(patient, 1, 10).block(TIME))
                .isInstanceOfSatisfying(HandlerException.class, error -> {
                    assertThat(error.reason()).isEqualTo(Reason.RATE_LIMITED);
                    assertThat(error.retryAfter()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(101));
                });
        int before = server(ProviderKind.GITHUB).calls().size();
        assertThatThrownBy(() -> integration(ProviderKind.GITHUB).repositories(patient, 2, 10).block(TIME))
                .isInstanceOf(HandlerException.class);
        assertThat(server(ProviderKind.GITHUB).calls()).hasSize(before);
    }

    @Test
    void aServerOfAnotherAuthorityIsRefused() {
        assertFails(integrations.of("untrusted").repositories(TOKEN, 1, 10), Reason.UPSTREAM_BAD_RESPONSE,
                "certificate");
    }

    @Test
    void aServerThatIsAwayIsSaidToBe() {
        assertFails(integrations.of("nobody").repositories(TOKEN, 1, 10), Reason.UNAVAILABLE,
                "could not be reached");
    }

    @ParameterizedTest
    @EnumSource(names = "FOLDER", mode = EnumSource.Mode.EXCLUDE)
    void aRefusedTokenIsToldAsTheTokensFault(ProviderKind kind) {
        assertFails(integration(kind).repositories(new GitToken("eve", "t-wrong"), 1, 10), Reason.FORBIDDEN,
                "refuses the Git token (401)");
    }

    @ParameterizedTest
    @EnumSource(names = "FOLDER", mode = EnumSource.Mode.EXCLUDE)
    void aTokensOwnerIsKnown(ProviderKind kind) {
        assertThat(integration(kind).user(TOKEN).block(TIME)).isNotNull()
                .extracting(GitUser::login)
                .isEqualTo("alice");
    }

    @ParameterizedTest
    @EnumSource(names = "FOLDER", mode = EnumSource.Mode.EXCLUDE)
    void pullRequestsAreOpened(ProviderKind kind) {
        var request = new NewPullRequest("zoo/shop-1", "Change " + kind, "why", "change-" + kind.key(),
                "main");

        PullRequest opened = Objects
                .requireNonNull(integration(kind).createPullRequest(TOKEN, request).block(TIME));

        assertThat(opened.title()).isEqualTo("Change " + kind);
        assertThat(opened.webUrl()).startsWith("https://127.0.0.1").endsWith(opened.id());
        assertFails(integration(kind).createPullRequest(READER, request), Reason.FORBIDDEN, "(403)");
    }

    @ParameterizedTest
    @EnumSource(names = {"GITHUB", "GITLAB"})
    void webhooksAndStatusesAreMade(ProviderKind kind) {
        Integration integration = integration(kind);
        var hook = new NewWebhook("zoo/shop-2", URI.create("https://a.example/webhooks/ns/push"), "s3cret",
                List.of("push"));
        var status = new CommitStatus("zoo/shop-1", commit.name(), CommitStatus.State.FAILURE, "ci/build",
                "broken", null);

        assertThat(integration.createWebhook(TOKEN, hook).block(TIME)).isNotNull();
        integration.setCommitStatus(TOKEN, status).block(TIME);

        assertThat(host.made("hook")).anyMatch(made -> made.repository().equals("zoo/shop-2"));
        assertThat(host.made("status")).anyMatch(made -> made.repository().equals("zoo/shop-1"));
        assertThat(hook.toString()).doesNotContain("s3cret");
    }

    @ParameterizedTest
    @CsvSource({"../x", "a/../b", "a//b", "/a", "a b", "a/b.git", "a/b?x", "a/%2e%2e"})
    void namesThatAreNoneAreRefused(String name) {
        assertThatThrownBy(() -> integrations.of("folder").cloneUrl(name))
                .isInstanceOf(HandlerException.class);
        assertThatThrownBy(() -> integrations.of("github").cloneUrl(name))
                .isInstanceOf(HandlerException.class);
    }

    private static void assertFails(Mono<?> call, Reason reason, String detail) {
        assertThatThrownBy(() -> call.block(TIME)).isInstanceOfSatisfying(HandlerException.class, error -> {
            assertThat(error.reason()).isEqualTo(reason);
            assertThat(error.detail()).contains(detail).doesNotContain("t-alice").doesNotContain("t-wrong");
        });
    }

    private static RepositoriesPage page(ProviderKind kind, int number, int limit) {
        GitToken token = kind == ProviderKind.FOLDER ? null : TOKEN;
        return Objects.requireNonNull(integration(kind).repositories(token, number, limit).block(TIME));
    }

    private static Integration integration(ProviderKind kind) {
        return integrations.of(kind.key());
    }

    private static GitProviderServer server(ProviderKind kind) {
        return Objects.requireNonNull(SERVERS.get(kind));
    }

    private static RepositoriesConfig config(List<IntegrationConfig> configs) {
        return RepositoriesConfig.of(configs,
                TokensConfig.files(temp, temp.resolve("tokens.key")));
    }
}
