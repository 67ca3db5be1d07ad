package dev.culvert.platform.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.HostPort;
import dev.culvert.config.yaml.YamlFile;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.platform.host.spi.PlatformModule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class PlatformHostIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable ControlPlane plane;

    @AfterEach
    void stop() {
        if (plane != null) {
            plane.stop(Duration.ZERO).block(TIME);
        }
    }

    @Test
    void pagesAreCollectedFromAllModules() throws Exception {
        start(config(""), TestModule.people(), new TestModule("builds", request -> TestModule.ok()));

        JsonNode paths = new JsonMapper().readTree(get("/openapi.json").body()).path("paths");

        List<String> listed = new ArrayList<>();
        paths.fieldNames().forEachRemaining(listed::add);
        assertThat(listed).containsExactlyInAnyOrder("/api/builds/word", "/api/people/word", "/api/ping",
                "/api/outbox", "/openapi.json", "/graphql.sdl", "/2.0/api/graphql");
        listed.remove("/2.0/api/graphql");
        for (String path : listed) {
            assertThat(get(path).statusCode()).as(path).isEqualTo(200);
        }
        assertThat(get("/graphql.sdl").body()).contains("builds: String", "people: String");
        assertThat(get("/api/ping").body()).isEqualTo("ok\n");
        assertThat(get("/api/pong").statusCode()).isEqualTo(404);
        for (String path : List.of("/metrics", "/readyz")) {
            assertThat(get(path).statusCode()).isEqualTo(200);
            assertThat(http.send(request(path).header("x-forwarded-for", "192.0.2.7").build(),
                    BodyHandlers.ofString()).statusCode()).as(path).isEqualTo(404);
        }
    }

    @Test
    void fieldsOfAllModulesAnswerThoseWhoHaveAKey() throws Exception {
        start(config(""), TestModule.people(), new TestModule("builds", request -> TestModule.ok()));

        assertThat(graphQl(TestModule.KEY).body())
                .isEqualTo("{\"data\":{\"builds\":\"builds\",\"people\":\"people\"}}");
        assertThat(graphQl("nobody").statusCode()).isEqualTo(401);
    }

    @Test
    void modulesThatHangThrowOrDoNotReadDisturbNobody() throws Exception {
        start(config(""), TestModule.people(),
                new TestModule("hangs", request -> Mono.fromCallable(() -> {
                    new CountDownLatch(1).await();
                    throw new IllegalStateException("not reached");
                })),
                new TestModule("throws", request -> {
                    throw new IllegalStateException("broken on purpose");
                }),
                new TestModule("idles", request -> Mono.never()));
        List<CompletableFuture<HttpResponse<String>>> bad = new ArrayList<>();
        for (String name : List.of("hangs", "throws", "idles")) {
            for (int i = 0; i < 20; i++) {
                bad.add(http.sendAsync(request("/api/" + name + "/x")
                        .POST(BodyPublishers.ofByteArray(new byte[256 << 10]))
                        .build(), BodyHandlers.ofString()));
            }
        }

        int answered = 0;
        for (int i = 0; i < 1_000; i++) {
            answered += get("/api/ping").statusCode() == 200 ? 1 : 0;
        }

        assertThat(answered).isEqualTo(1_000);
        List<Integer> statuses = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> each : bad) {
            statuses.add(each.get().statusCode());
        }
        assertThat(statuses).containsOnly(500, 503, 504);
        assertThat(get("/readyz").body()).startsWith("degraded\n")
                .contains("handler hangs: ", "handler throws: ", "handler idles: ");
        assertThat(get("/readyz").statusCode()).isEqualTo(200);
    }

    @Test
    void aMistakeInTheSettingsOfAModuleNamesFileLineAndKey() throws Exception {
        ControlPlaneConfig wrong = config("""
                handlers:
                  builds:
                    wort: Good morning
                  build: {}
                """);

        assertThatThrownBy(() -> PlatformModules.of(modules(), wrong)).isInstanceOf(ConfigErrors.class)
                .hasMessageContaining(
                        "control-plane.yaml:5: handlers.builds.wort: unknown key (nearest: handlers.builds.word)")
                .hasMessageContaining("control-plane.yaml:6: handlers.build: no such module on the class path"
                        + " (expected: one of [builds, people])");
        assertThatThrownBy(() -> PlatformModules.of(modules(), config("limits: { x: { threads: 1 } }\n")))
                .hasMessageContaining("limits.x: no such module (expected: one of [builds, people, platform,"
                        + " graphql])");
        start(config("handlers: { builds: { word: Good morning } }\n"),
                modules().toArray(PlatformModule[]::new));
        assertThat(get("/api/builds/word").body()).isEqualTo("{\"word\":\"Good morning\"}");
        assertThat(get("/api/people/word").body()).isEqualTo("{\"word\":\"Hello\"}");
    }

    @Test
    void modulesThatClaimTheSameAreRefusedByName() {
        assertThatThrownBy(() -> start(config(""), TestModule.people(), TestModule.people()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("are both named people");
        var claims = new TestModule("ping", request -> TestModule.ok());
        var same = new Mounting(claims, List.of("/api/ping"));
        assertThatThrownBy(() -> started(config(""), TestModule.people(), same))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("handlers ping and platform both claim the path /api/ping");
        assertThatThrownBy(() -> started(config(""), TestModule.people(),
                new Mounting(claims, List.of("/api/people"))))
                .hasMessageContaining("handlers people and ping both claim the path /api/people");
    }

    /** A module at other paths. */
    private record Mounting(TestModule module, List<String> mounts)
            implements
                PlatformModule {
        @Override
        public String name() {
            return module.name();
        }

        @Override
        public EdgeHandler create(HandlerContext context) {
            return request -> TestModule.ok();
        }
    }

    private static List<PlatformModule> modules() {
        return List.of(TestModule.people(), new TestModule("builds", request -> TestModule.ok()));
    }

    private ControlPlaneConfig config(String more) {
        try {
            Path file = folder.resolve("control-plane.yaml");
            Files.writeString(file, "listen: 127.0.0.1:0\ndataDir: data\n" + more);
            return ConfigBinder.bind(new ConfigSources(YamlFile.read(file), Map.of(), Map.of(), Map.of()),
                    List.of(ControlPlaneConfig.class)).value(ControlPlaneConfig.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void start(ControlPlaneConfig config, PlatformModule... modules) {
        plane = started(config, modules);
    }

    private static ControlPlane started(ControlPlaneConfig config,
            PlatformModule... modules) {
        return Objects.requireNonNull(
                ControlPlane.start(config, PlatformModules.of(List.of(modules), config)).block(TIME));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request(path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> graphQl(String key) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(uri("/2.0/api/graphql"))
                .header("authorization", key)
                .POST(BodyPublishers.ofString("{\"query\":\"{builds people}\"}"))
                .build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(uri(path)).header("authorization", TestModule.KEY);
    }

    private URI uri(String path) {
        return URI.create("http://" + Objects.requireNonNull(plane).address() + path);
    }
}
