package dev.culvert.appproxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.host.LimitSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The handler of docs/handlers.md, and what a part does for the handlers of others. */
class HandlersPageIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final Path PAGE = Path.of("..", "docs", "handlers.md");
    private static final Path SOURCE = Path.of("src", "test", "java", "com", "example", "greeting",
            "GreetingProvider.java");

    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable AppProxy proxy;
    private @Nullable AppProxy upstream;

    @AfterEach
    void stop() {
        for (AppProxy each : new AppProxy[]{proxy, upstream}) {
            if (each != null) {
                each.stop(Duration.ZERO).block(TIME);
            }
        }
    }

    @Test
    void thePageShowsTheHandlerThatIsTestedHere() throws IOException {
        String page = Files.readString(PAGE);
        String code = page.substring(page.indexOf("```java\n") + 8,
                page.indexOf("\n```", page.indexOf("```java\n")));

        assertThat(code).isEqualTo(Files.readString(SOURCE).stripTrailing());
    }

    @Test
    void aHandlerOfOthersIsServedWithItsSettings() throws IOException, InterruptedException {
        proxy = start(greeting("word", "Good morning"));

        assertThat(get("/app-proxy/greeting/Ada").body()).isEqualTo("Good morning, Ada!");
        assertThat(get("/app-proxy/greeting/1").statusCode()).isEqualTo(400);
        assertThat(get("/metrics").body()).containsPattern(
                "culvert_handler_seconds_count\\{handler=\"greeting\",outcome=\"answered\"\\} 1");
    }

    @Test
    void itsGraphQlIsJoinedAndAnswersWithAndWithoutThePrefix() throws IOException, InterruptedException {
        proxy = start(greeting("word", "Hello"));

        for (String path : new String[]{"/app-proxy/api/graphql", "/api/graphql"}) {
            assertThat(query(path, "{ greeting(name: \\\"Ada\\\") { text } }").body())
                    .isEqualTo("{\"data\":{\"greeting\":{\"text\":\"Hello, Ada!\"}}}");
        }
        assertThat(query("/api/graphql", "{ greeting(name: \\\"1\\\") { text } }").statusCode())
                .isEqualTo(400);
    }

    @Test
    void withoutFunctionsThereIsNoGraphQl() throws IOException, InterruptedException {
        proxy = start(plugins(Map.of()));

        assertThat(query("/api/graphql", "{ rootFields }").statusCode()).isEqualTo(404);
    }

    @Test
    void mistakesInSettingsOfOthersAreNamed() {
        assertThatThrownBy(() -> start(greeting("wort", "x"))).isInstanceOf(ConfigErrors.class)
                .hasMessageContaining("plugins.greeting.wort");
        assertThatThrownBy(() -> start(plugins(Map.of("none", Map.of())))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("none");
        assertThatThrownBy(
                () -> start(config(Map.of(), Map.of("none", new LimitSettings(1, null, 1)), null)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("none");
    }

    @Test
    void aRemoteHandlerIsMountedLikeALocalOne() throws IOException, InterruptedException {
        upstream = start(greeting("word", "Far hello"));
        URI to = URI.create("http://" + upstream.address());
        var remote = new AppProxyConfig.Remote("far", "/app-proxy/greeting/", to, Duration.ofSeconds(5), 8,
                false);
        proxy = AppProxy.start(plugins(Map.of()).with(remote)).block(TIME);

        assertThat(get("/app-proxy/greeting/Ada").body()).isEqualTo("Far hello, Ada!");
        assertThat(get("/app-proxy/greeting/1").headers().firstValue("content-type"))
                .contains("application/problem+json");
        upstream.stop(Duration.ZERO).block(TIME);
        upstream = null;
        for (int i = 0; i < 5; i++) {
            assertThat(get("/app-proxy/greeting/Ada").statusCode()).isEqualTo(502);
        }
        assertThat(get("/api/readyz").body()).startsWith("degraded\nhandler far: 5 of 7 calls");
        assertThat(get("/app-proxy/api/info").statusCode()).isEqualTo(200);
    }

    @Test
    void pagesOfAllowedOriginsMayCall() throws IOException, InterruptedException {
        proxy = start(
                config(Map.of(), Map.of(), new AppProxyConfig.Cors(List.of("https://app.example.com"))));

        HttpResponse<String> preflight = send(HttpRequest.newBuilder(uri("/app-proxy/api/info"))
                .method("OPTIONS", BodyPublishers.noBody())
                .header("origin", "https://app.example.com")
                .header("access-control-request-method", "POST"));
        HttpResponse<String> problem = send(
                HttpRequest.newBuilder(uri("/none")).header("origin", "https://app.example.com"));
        HttpResponse<String> other = send(HttpRequest.newBuilder(uri("/app-proxy/api/info"))
                .method("OPTIONS", BodyPublishers.noBody())
                .header("origin", "https://evil.example.com")
                .header("access-control-request-method", "POST"));

        assertThat(preflight.statusCode()).isEqualTo(204);
        assertThat(preflight.headers().firstValue("access-control-allow-headers").orElse(""))
                .contains("x-access-token");
        assertThat(problem.statusCode()).isEqualTo(404);
        assertThat(problem.headers().firstValue("access-control-allow-origin"))
                .contains("https://app.example.com");
        assertThat(problem.headers().firstValue("access-control-allow-credentials")).contains("true");
        assertThat(other.statusCode()).isEqualTo(403);
    }

    private static AppProxy start(AppProxyConfig config) {
        return Objects.requireNonNull(AppProxy.start(config).block(TIME));
    }

    private static AppProxyConfig greeting(String key, String value) {
        return plugins(Map.of("greeting", Map.of(key, value)));
    }

    private static AppProxyConfig plugins(Map<String, Map<String, String>> plugins) {
        return config(plugins, Map.of(), null);
    }

    private static AppProxyConfig config(Map<String, Map<String, String>> plugins,
            Map<String, LimitSettings> limits, AppProxyConfig.@Nullable Cors cors) {
        return new AppProxyConfig(new HostPort("127.0.0.1", 0), null, null, null,
                AppProxyConfig.Handlers.of(), limits, AppProxyConfig.GraphQl.usual(), plugins,
                List.of(), cors, List.of());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path)));
    }

    private HttpResponse<String> query(String path, String document)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString("{\"query\":\"" + document + "\"}")));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://" + Objects.requireNonNull(proxy).address() + path);
    }
}
