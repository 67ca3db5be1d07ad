package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --token-file}, against an admin API that only answers. */
class TokenCommandTest {
    private static final String SECRET = "culvert1.id.secret.pin";

    @TempDir
    Path folder;
    private final List<String> asked = new ArrayList<>();
    private final List<String> bodies = new ArrayList<>();
    private HttpServer api;
    private Path token;
    private int status = 201;

    @BeforeEach
    void start() throws IOException {
        Files.writeString(folder.resolve("admin.token"), "abc\n");
        token = Files.createDirectory(folder.resolve("out")).resolve("token");
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().getPath());
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] body = (status < 300
                    ? "{\"account\":\"acme\",\"name\":\"prod\",\"enrolmentToken\":\"" + SECRET
                            + "\",\"enrolmentExpiresAt\":\"2026-01-01T00:00:00Z\"}"
                    : "{\"title\":\"Conflict\",\"detail\":\"acme/prod exists\",\"status\":409}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        api.start();
    }

    @AfterEach
    void stop() {
        api.stop(0);
    }

    @Test
    void theTokenGoesToAFileOfItsOwnersAloneAndIsNotShown() throws IOException {
        for (String command : List.of("create", "enrol-token")) {
            for (String output : List.of("table", "json")) {
                Files.deleteIfExists(token);

                Captured captured = run(command, "--token-file", token.toString(), "--output", output);

                assertThat(captured.exitCode()).as(captured.err()).isZero();
                assertThat(token).hasContent(SECRET);
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
                        .isEqualTo("rw-------");
                assertThat(captured.out()).contains("enrolmentTokenFile", token.toString())
                        .contains("enrolmentExpiresAt")
                        .doesNotContain(SECRET)
                        .endsWith("\n");
            }
        }
    }

    @Test
    void withoutTheFlagTheTokenIsShown() {
        Captured table = run("create");
        Captured json = run("create", "--output", "json");

        assertThat(table.out()).contains(SECRET).doesNotContain("enrolmentTokenFile").endsWith("\n");
        assertThat(json.out()).contains("\"enrolmentToken\":\"" + SECRET + "\"").endsWith("}\n");
    }

    @Test
    void anOlderFileIsReplacedWithItsMode() throws IOException {
        Files.writeString(token, "an older and longer token, readable for all\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));

        assertThat(run("create", "--token-file", token.toString()).exitCode()).isZero();

        assertThat(token).hasContent(SECRET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
                .isEqualTo("rw-------");
    }

    @Test
    void aRefusalLeavesTheFolderAsItWas() throws IOException {
        status = 409;

        Captured captured = run("create", "--token-file", token.toString());

        assertThat(captured.exitCode()).isEqualTo(1);
        assertThat(captured.err()).contains("acme/prod exists");
        try (Stream<Path> files = Files.list(token.getParent())) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void aFileThatCanNotBeWrittenIsToldBeforeTheServerIsAsked() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("elsewhere"));

        for (String useless : List.of(folder.toString(), folder.resolve("nowhere/token").toString(),
                folder.resolve("admin.token/token").toString(), link.toString(), "/")) {
            Captured captured = run("create", "--token-file", useless);

            assertThat(captured.exitCode()).as(useless).isEqualTo(64);
            assertThat(captured.err()).startsWith("culvert: --token-file: " + useless)
                    .doesNotContain("Exception");
        }
        assertThat(asked).isEmpty();
    }

    @Test
    void aHostedRuntimeHasAnUpstreamAndNoToken() throws IOException {
        Path ca = Files.writeString(folder.resolve("ca.crt"), "a certificate");
        String url = "https://a.example";

        assertThat(run("create", "--upstream", url, "--token-file", token.toString()).err())
                .isEqualTo("culvert: --token-file: a runtime with --upstream has no token\n");
        assertThat(asked).isEmpty();
        run("create", "--upstream", url, "--upstream-ca", ca.toString());
        run("upstream", "--upstream", "http://b.example");
        run("upstream");

        assertThat(bodies).containsExactly(
                "{\"upstream\":\"https://a.example\",\"ca\":\"a certificate\",\"account\":\"acme\",\"name\":\"prod\",\"hosts\":[]}",
                "{\"upstream\":\"http://b.example\"}", "");
        assertThat(asked).containsExactly("/api/v1/runtimes", "/api/v1/runtimes/acme/prod",
                "/api/v1/runtimes/acme/prod");
    }

    private Captured run(String command, String... more) {
        var args = new ArrayList<>(List.of("runtime", command, "acme", "prod", "--admin",
                "http://127.0.0.1:" + api.getAddress().getPort(), "--admin-token-file",
                folder.resolve("admin.token").toString()));
        args.addAll(List.of(more));
        return Captured.run(args.toArray(String[]::new));
    }
}
