package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.commits.CommitsSettings;
import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.IntegrationConfig;
import dev.culvert.appproxy.repositories.RepositoriesConfig;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.standins.git.BitbucketApi;
import dev.culvert.standins.git.BitbucketServerApi;
import dev.culvert.standins.git.GitHost;
import dev.culvert.standins.git.GitProviderServer;
import dev.culvert.standins.git.GiteaApi;
import dev.culvert.standins.git.GithubApi;
import dev.culvert.standins.git.GitlabApi;
import dev.culvert.standins.git.ProviderStandIn;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;

/**
 * All that a GitOps client's call goes through: edge, tunnel, router, App-Proxy, control plane, and a provider of each kind
 * in front of the same repositories.
 */
final class GitOps implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final JsonMapper JSON = new JsonMapper();
    private static final Map<ProviderKind, ProviderStandIn> APIS = Map.of(ProviderKind.GITHUB,
            new GithubApi(),
            ProviderKind.GITLAB, new GitlabApi(), ProviderKind.BITBUCKET, new BitbucketApi(),
            ProviderKind.BITBUCKET_SERVER, new BitbucketServerApi(), ProviderKind.GITEA, new GiteaApi());

    /** Where every part keeps its files. */
    final Path parts;
    final GitHost host;
    private final Map<ProviderKind, GitProviderServer> providers = new EnumMap<>(ProviderKind.class);
    private final Platform platform;
    private final String adminKey;
    private ControlPlane controlPlane;
    private final AppProxy appProxy;

    /** @param ttl how long permissions hold without the control plane */
    GitOps(Path folder, Duration ttl) throws IOException, InterruptedException {
        parts = Files.createDirectory(folder.resolve("parts"));
        host = new GitHost(folder.resolve("host"));
        for (var api : APIS.entrySet()) {
            providers.put(api.getKey(), GitProviderServer.start(api.getValue(), host, null));
        }
        controlPlane = startControlPlane(ANY_PORT);
        adminKey = Files.readString(parts.resolve("plane/admin.key")).strip();
        Path runtimeKey = Files.writeString(parts.resolve("runtime.key"),
                made("/api/keys", Map.of("runtime", "prod")).path("key").textValue());
        appProxy = startAppProxy(new ControlPlaneSettings(URI.create("http://" + controlPlane.address()),
                runtimeKey, null, null, ttl, Duration.ofMillis(200), Duration.ofMillis(100),
                Duration.ofSeconds(3), 1000, false));
        platform = Platform.start(parts);
        platform.connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of()),
                        Map.of("cap-app-proxy", appProxy.address()))));
    }

    /** What came back, and the JSON it was. */
    record Answer(int status, JsonNode json) {}

    String adminKey() {
        return adminKey;
    }

    GitProviderServer provider(ProviderKind kind) {
        return Objects.requireNonNull(providers.get(kind));
    }

    /** Asks GraphQL at the edge. */
    Answer ask(String key, String query, Map<String, ?> args) {
        return send(platform.caller("acme", "prod"), HttpMethod.POST, "/app-proxy/api/graphql", key,
                json(Map.of("query", query, "variables", Map.of("args", args))));
    }

    /** Registers the caller's Git token at the integration named as the kind is. */
    Answer register(String key, ProviderKind kind, String login, String token) {
        return ask(key,
                "mutation($args:RegisterToGitIntegrationArgs!){registerToGitIntegration(args:$args){name}}",
                Map.of("name", kind.key(), "token", token, "username", login));
    }

    /** Makes something in the control plane. */
    JsonNode made(String path, Map<String, ?> body) {
        Answer answer = plane(HttpMethod.POST, path, json(body));
        assertThat(answer.status).as(answer.json.toString()).isEqualTo(201);
        return answer.json;
    }

    /** Removes something from the control plane. */
    void remove(String path) {
        assertThat(plane(HttpMethod.DELETE, path, "").status).isEqualTo(204);
    }

    void stopControlPlane() {
        controlPlane.stop(Duration.ZERO).block(PATIENCE);
    }

    /** Where and as it was. */
    void startControlPlaneAgain() {
        controlPlane = startControlPlane(controlPlane.address());
    }

    @Override
    public void close() {
        platform.close();
        appProxy.stop(Duration.ZERO).block(PATIENCE);
        stopControlPlane();
        providers.values().forEach(GitProviderServer::close);
    }

    private ControlPlane startControlPlane(HostPort listen) {
        return Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(listen, parts.resolve("plane"),
                        ControlPlaneConfig.Nudge.none()))
                .block(PATIENCE));
    }

    private AppProxy startAppProxy(ControlPlaneSettings plane) {
        var integrations = new ArrayList<IntegrationConfig>();
        providers.forEach((kind, server) -> integrations
                .add(IntegrationConfig.provider(kind.key(), kind, server.apiUrl(), null)));
        var repositories = RepositoriesConfig.of(integrations,
                TokensConfig.files(parts.resolve("tokens"), parts.resolve("tokens.key")));
        var handlers = AppProxyConfig.Handlers.of(repositories,
                CommitsSettings.of(parts.resolve("cache"), null));
        return Objects.requireNonNull(AppProxy
                .start(AppProxyConfig.of(ANY_PORT, "acme/prod", handlers).with(plane, parts.resolve("audit")))
                .block(PATIENCE));
    }

    private Answer plane(HttpMethod method, String path, String body) {
        return send(HttpClient.create().baseUrl("http://" + controlPlane.address()), method, path, adminKey,
                body);
    }

    private static Answer send(HttpClient client, HttpMethod method, String path, String key, String body) {
        return client.headers(
                fields -> fields.set("authorization", key).set("content-type", "application/json"))
                .request(method)
                .uri(path)
                .send(ByteBufFlux.fromString(Mono.just(body)))
                .responseSingle((head, content) -> content.asString()
                        .defaultIfEmpty("null")
                        .map(text -> new Answer(head.status().code(), parsed(text))))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static JsonNode parsed(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    private static String json(Map<String, ?> body) {
        return JSON.valueToTree(body).toString();
    }
}
