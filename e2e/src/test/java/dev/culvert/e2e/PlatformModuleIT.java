package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The module of docs/handlers.md, as a jar on the class path of a control plane. */
class PlatformModuleIT {
    private static final Path SOURCE = Path.of("src", "test", "resources", "modules", "GreetingModule.java");
    private static final String SERVICE = "META-INF/services/dev.culvert.platform.host.spi.PlatformModule";

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
        }
    }

    private static HttpResponse<String> get(URI uri, String key) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
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
