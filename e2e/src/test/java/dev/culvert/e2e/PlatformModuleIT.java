package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.ByteSize;
import dev.culvert.server.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The module of docs/handlers.md, as a jar on the class path of a control plane. */
class PlatformModuleIT {
    private static final Path SOURCE = Path.of("src", "test", "resources", "modules", "GreetingModule.java");
    private static final String SERVICE = "META-INF/services/dev.culvert.platform.host.spi.PlatformModule";

    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    @Test
    void thePageShowsTheModuleThatIsTestedHere() throws IOException {
        assertThat(Files.readString(Path.of("..", "docs", "handlers.md")))
                .contains("```java\n" + Files.readString(SOURCE) + "```");
    }

    @Test
    void aJarOnTheClassPathIsServed() throws Exception {
        Path config = folder.resolve("control-plane.yaml");
        Files.writeString(config, """
                listen: 127.0.0.1:0
                dataDir: data
                handlers: { greeting: { word: Good morning } }
                """);
        try (ServerProcess part = ServerProcess.part(jar().toString(),
                List.of("control-plane", "--config", config.toString()))) {
            URI base = URI.create("http://" + part.address("listen"));
            String key = Files.readString(folder.resolve("data").resolve("admin.key")).strip();

            HttpResponse<String> answer = get(base.resolve("/api/greeting"), key);

            assertThat(answer.body()).matches("\\{\"text\":\"Good morning, [0-9a-f]{24}!\"}");
            assertThat(get(base.resolve("/api/greeting"), "nobody").statusCode()).isEqualTo(401);
            assertThat(get(base.resolve("/openapi.json"), key).body()).contains("\"/api/greeting\"",
                    "\"/api/users/{id}\"");
            throughTheEdge(base, key);
        }
    }

    /** The same at the platform's host of an edge. */
    private void throughTheEdge(URI controlPlane, String key) throws Exception {
        ConnectionProvider connections = ConnectionProvider.create("platform-callers", 4);
        try (Platform platform = Platform.start(Files.createDirectory(folder.resolve("edge")),
                usual -> new ServerConfig(
                        usual.edge()
                                .with(new ServerConfig.Platform("platform." + Platform.DOMAIN, controlPlane,
                                        null, null,
                                        new ServerConfig.PlatformLimits(100, 0, 0, new ByteSize(0),
                                                new ByteSize(0)))),
                        usual.tcp(), usual.tunnel(), usual.admin(), usual.dataDir(), usual.store(),
                        usual.inbox(),
                        usual.tls()))) {
            HttpClient caller = platform.http2Caller("acme", "web", connections)
                    .headers(fields -> fields.set("host", "platform." + Platform.DOMAIN)
                            .set("authorization", key));

            assertThat(caller.get().uri("/api/ping").responseContent().aggregate().asString().block(TIME))
                    .isEqualTo("ok\n");
            assertThat(caller.get().uri("/api/greeting").responseContent().aggregate().asString().block(TIME))
                    .startsWith("{\"text\":\"Good morning, ");
            assertThat(caller.get().uri("/openapi.json").responseContent().aggregate().asString().block(TIME))
                    .contains("\"/api/greeting\"");
            assertThat(caller.headers(fields -> fields.set("content-type", "application/json"))
                    .post()
                    .uri("/2.0/api/graphql")
                    .send(ByteBufFlux.fromString(Mono.just("{\"query\":\"{me{id activeAccount{id}}}\"}")))
                    .responseContent()
                    .aggregate()
                    .asString()
                    .block(TIME))
                    .matches("\\{\"data\":\\{\"me\":\\{\"id\":\"[0-9a-f]{24}\",\"activeAccount\".*");
        } finally {
            connections.dispose();
        }
    }

    private static HttpResponse<String> get(URI uri, String key) throws IOException, InterruptedException {
        try (java.net.http.HttpClient http = java.net.http.HttpClient.newHttpClient()) {
            return http.send(HttpRequest.newBuilder(uri).header("authorization", key).build(),
                    BodyHandlers.ofString());
        }
    }

    /** Compiles the module as its author would. */
    private Path jar() throws IOException {
        Path classes = Files.createDirectory(folder.resolve("classes"));
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            assertThat(compiler.getTask(null, files, null,
                    List.of("-d", classes.toString(), "-proc:none", "-cp",
                            System.getProperty("java.class.path")),
                    null, files.getJavaFileObjects(SOURCE)).call()).isTrue();
        }
        Path jar = folder.resolve("greeting.jar");
        try (var out = new JarOutputStream(Files.newOutputStream(jar)); var found = Files.walk(classes)) {
            out.putNextEntry(new JarEntry(SERVICE));
            out.write("com.example.greeting.GreetingModule\n".getBytes(StandardCharsets.UTF_8));
            for (Path each : found.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(each).toString()));
                out.write(Files.readAllBytes(each));
            }
        }
        return jar;
    }
}
