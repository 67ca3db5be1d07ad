package dev.culvert.appproxy.repositories;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.appproxy.credentials.EncryptedGitTokens;
import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.graphql.GraphQlHandler;
import dev.culvert.handlers.graphql.GraphQlLimits;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.standins.git.GitHost;
import dev.culvert.standins.git.GitProviderServer;
import dev.culvert.standins.git.GithubApi;
import dev.culvert.standins.git.HostedUser;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The handler over GraphQL on a socket, at a stand-in of GitHub. Everything that is logged meanwhile is kept. */
class RepositoriesHandlerIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String SECRET = "ghp_Zx81LkPq0aSecretOfAlice77";
    private static final String WEAK = "ghp_TokenWithoutScopes000001";
    private static final Scheduler BLOCKING = Schedulers.newBoundedElastic(2, 100, "repositories");
    private static final FakeAccess ACCESS = new FakeAccess();
    private static final Queue<String> LINES = new ConcurrentLinkedQueue<>();
    private static final String LIST = "query($a:GitRepositoriesArgs){gitRepositories(args:$a)"
            + "{page count hasNext data{fullName provider cloneUrl}}}";
    private static final String REGISTER = "mutation($a:RegisterToGitIntegrationArgs!){registerToGitIntegration(args:$a)"
            + "{name provider apiUrl sharingPolicy registeredUsers}}";

    @TempDir
    static Path temp;

    private static GitHost host;
    private static GitProviderServer provider;
    private static ConfiguredIntegrations integrations;
    private static EventLoops loops;
    private static EdgeServer server;

    @BeforeAll
    static void start() throws IOException {
        EventLoopWatch.install();
        keepLines();
        host = new GitHost(temp.resolve("host"))
                .user(new HostedUser("alice-at-hub", SECRET, List.of("repo"), true))
                .user(new HostedUser("weak", WEAK, List.of(), true));
        for (int i = 1; i <= 70; i++) {
            host.repository("acme/shop-" + i);
        }
        provider = GitProviderServer.start(new GithubApi(), host, null);
        var config = RepositoriesConfig.of(
                List.of(IntegrationConfig.provider("hub", ProviderKind.GITHUB, provider.apiUrl(), null),
                        IntegrationConfig.folder("local", host.folder())),
                TokensConfig.files(temp, temp.resolve("tokens.key")));
        integrations = ConfiguredIntegrations.of(config, BLOCKING);
        var handler = new RepositoriesHandler(integrations, EncryptedGitTokens.of(config.tokens(), BLOCKING),
                ACCESS);
        loops = EventLoops.create(1);
        var setup = EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), loops);
        var graphql = new GraphQlHandler(List.of(handler), GraphQlLimits.defaults());
        server = Objects.requireNonNull(
                EdgeServer.start(setup, request -> offTheLoop(request).flatMap(graphql::handle)).block(TIME));
    }

    @AfterAll
    static void stop() {
        server.stop(Duration.ZERO).block(TIME);
        integrations.close().block(TIME);
        loops.disposeLater(Duration.ZERO, TIME).block(TIME);
        provider.close();
        BLOCKING.dispose();
        ((Logger) LoggerFactory.getLogger("dev.culvert")).setLevel(null);
        ((Logger) LoggerFactory.getLogger("reactor.netty")).setLevel(null);
    }

    @Test
    void aTokenIsRegisteredUsedAndForgottenAndNowhereInTheLog() throws IOException, InterruptedException {
        JsonNode none = call("alice", LIST, Map.of("integrationName", "hub"));
        assertThat(none.at("/errors/0/message").asText())
                .contains("registered no Git token for the integration hub");

        JsonNode registered = call("alice", REGISTER, Map.of("name", "hub", "token", SECRET));
        assertThat(registered.at("/data/registerToGitIntegration/registeredUsers/0").asText())
                .isEqualTo("alice");
        JsonNode page = call("alice", LIST, Map.of("integrationName", "hub", "page", 2, "limit", 50));
        assertThat(page.at("/data/gitRepositories/count").asInt()).isEqualTo(20);
        assertThat(page.at("/data/gitRepositories/hasNext").asBoolean()).isFalse();
        assertThat(page.at("/data/gitRepositories/data/0/fullName").asText()).isEqualTo("acme/shop-51");
        assertThat(call("bob", LIST, Map.of()).at("/errors/0/extensions/status").asInt()).isEqualTo(403);

        host.forget(SECRET);
        JsonNode refused = call("alice", LIST, Map.of("page", 3, "limit", 30));
        assertThat(refused.at("/errors/0/message").asText()).contains("refuses the Git token (401)");
        host.user(new HostedUser("alice-at-hub", SECRET, List.of("repo"), true));
        call("alice", "mutation{deregisterFromGitIntegration(integrationName:\"hub\"){name}}", Map.of());
        assertThat(call("alice", LIST, Map.of()).at("/errors/0/extensions/status").asInt()).isEqualTo(403);

        assertThat(ACCESS.changes).anyMatch(change -> change.object().equals("hub/token of the caller"));
        assertThat(Files.readString(temp.resolve("git-tokens.json"))).doesNotContain(SECRET);
        assertThat(LINES).isNotEmpty().noneMatch(RepositoriesHandlerIT::tellsTheToken);
    }

    @Test
    void aTokenThatLacksAScopeOrIsUnknownIsNotKept() throws IOException, InterruptedException {
        assertThat(call("carol", REGISTER, Map.of("name", "hub", "token", WEAK)).at("/errors/0/message")
                .asText())
                .contains("lacks the scopes repo");
        assertThat(call("carol", REGISTER, Map.of("name", "hub", "token", "nonsense")).at("/errors/0/message")
                .asText()).contains("refuses the Git token").doesNotContain("nonsense");
        assertThat(call("carol", LIST, Map.of()).at("/errors/0/extensions/status").asInt()).isEqualTo(403);
    }

    @Test
    void integrationsThatOneMayNotSeeAreLeftOut() throws IOException, InterruptedException {
        String list = "query{gitIntegrations{name}}";
        try {
            ACCESS.forbidden.add("hub");
            assertThat(call("alice", list, Map.of()).at("/data/gitIntegrations").toString())
                    .isEqualTo("[{\"name\":\"local\"}]");
            ACCESS.forbidden.add("local");
            assertThat(call("alice", list, Map.of()).at("/errors/0/extensions/status").asInt())
                    .isEqualTo(403);
        } finally {
            ACCESS.forbidden.removeAll(List.of("hub", "local"));
        }
    }

    @Test
    void aFolderAsksForNoToken() throws IOException, InterruptedException {
        JsonNode page = call("bob", LIST, Map.of("integrationName", "local", "limit", 100));

        assertThat(page.at("/data/gitRepositories/count").asInt()).isEqualTo(70);
        assertThat(page.at("/data/gitRepositories/data/0/provider").asText()).isEqualTo("FOLDER");
    }

    @Test
    void theRuntimesTokenIsForAdmins() throws IOException, InterruptedException {
        String mutation = REGISTER.replace("registerToGitIntegration(", "registerRuntimeGitToken(");
        host.user(new HostedUser("robot", "ghp_Robot", List.of("repo", "admin:repo_hook"), true));

        assertThat(
                call("bob", mutation, Map.of("token", "ghp_Robot")).at("/errors/0/extensions/status").asInt())
                .isEqualTo(403);
        assertThat(
                call("admin", mutation, Map.of("token", "ghp_Robot")).at("/data/registerRuntimeGitToken/name")
                        .asText())
                .isEqualTo("hub");
    }

    @Test
    void argumentsOutOfRangeAreRefused() throws IOException, InterruptedException {
        assertThat(call("bob", LIST, Map.of("limit", 101)).at("/errors/0/extensions/status").asInt())
                .isEqualTo(400);
        assertThat(call("bob", LIST, Map.of("page", 0)).at("/errors/0/extensions/status").asInt())
                .isEqualTo(400);
        assertThat(call("bob", LIST, Map.of("integrationName", "none")).at("/errors/0/extensions/status")
                .asInt())
                .isEqualTo(404);
    }

    /** As a host runs a handler: on threads of its own, where graphql-java may read its texts of errors. */
    private static Mono<EdgeRequest> offTheLoop(EdgeRequest request) {
        return request.aggregate(1 << 20)
                .publishOn(BLOCKING)
                .map(body -> new EdgeRequest(request.method(), request.target(), request.headers(),
                        Flux.just(Unpooled.wrappedBuffer(body)), request.context()));
    }

    private static boolean tellsTheToken(String line) {
        byte[] bytes = SECRET.getBytes(StandardCharsets.UTF_8);
        String lower = line.toLowerCase(Locale.ROOT);
        return line.contains(SECRET)
                || line.contains(Base64.getEncoder().withoutPadding().encodeToString(bytes))
                || lower.contains(HexFormat.of().formatHex(bytes));
    }

    private static void keepLines() {
        var root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        var appender = new AppenderBase<ILoggingEvent>() {
            @Override
            protected void append(ILoggingEvent event) {
                String cause = event.getThrowableProxy() == null
                        ? ""
                        : ThrowableProxyUtil.asString(event.getThrowableProxy());
                LINES.add(event.getFormattedMessage() + " " + event.getKeyValuePairs() + " " + cause);
            }
        };
        appender.setContext(root.getLoggerContext());
        appender.start();
        root.addAppender(appender);
        ((Logger) LoggerFactory.getLogger("dev.culvert")).setLevel(Level.TRACE);
        ((Logger) LoggerFactory.getLogger("reactor.netty")).setLevel(Level.TRACE);
    }

    private static JsonNode call(String user, String query, Map<String, Object> args)
            throws IOException, InterruptedException {
        var json = new JsonMapper();
        byte[] body = json.writeValueAsBytes(Map.of("query", query, "variables", Map.of("a", args)));
        try (HttpClient client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create("http://" + server.address() + "/"))
                    .header("Content-Type", "application/json")
                    .header("Authorization", user)
                    .POST(BodyPublishers.ofByteArray(body))
                    .build();
            return json.readTree(client.send(request, BodyHandlers.ofByteArray()).body());
        }
    }
}
