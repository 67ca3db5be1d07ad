package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.launcher.admin.AuthorityFile;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The parts as processes: ready lines, exit codes, signals. */
class PartsIT {
    @TempDir
    Path folder;

    @BeforeEach
    void writeCertificatesAndConfiguration() throws IOException {
        Launched.writeServer(folder);
    }

    @Test
    void oneLocalServiceIsExposedWithoutAFileAndBothEndsDrainOnSigterm() throws Exception {
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml", "--log-format",
                "json")) {
            JsonNode ready = server.event("listening");
            assertThat(ready.path("part").asText()).isEqualTo("tunnel-server");
            String admin = "http://" + ready.path("admin").asText();
            Captured created = Captured.run("runtime", "create", "acme", "prod", "--output", "json",
                    "--admin", admin,
                    "--admin-token-file", folder.resolve("admin.token").toString());
            assertThat(created.exitCode()).as(created.err()).isZero();
            Files.writeString(folder.resolve("token"),
                    new ObjectMapper().readTree(created.out()).path("enrolmentToken").asText());

            try (Launched client = Launched.start(folder, "client", "--server",
                    "wss://" + ready.path("tunnel").asText(),
                    "--server-ca", "ca.crt", "--enrolment-token-file", "token", "--identity-dir", "identity",
                    "--to",
                    admin, "--health-listen", "127.0.0.1:0", "--access-log")) {
                assertThat(client.event("listening").path("part").asText()).isEqualTo("tunnel-client");
                assertThat(client.event("connected").path("runtime").asText()).isEqualTo("acme/prod");
                assertThat(folder.resolve("identity").resolve("client.crt")).exists();
                follows(ready, admin, client);

                assertThat(client.terminate().exitCode()).isZero();
                assertThat(client.err()).isEmpty();
            }
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(server.err()).isEmpty();
            assertThat(server.out().lines()).allMatch(line -> line.startsWith("{"));
        }
    }

    /** {@code culvert tail} and {@code events} show what happens, and so does the client's access log. */
    private void follows(JsonNode ready, String admin, Launched client) throws Exception {
        try (Launched tail = Launched.start(folder, "tail", "acme", "prod", "--admin", admin);
                Launched events = Launched.start(folder, "events", "--output", "json", "--admin", admin)) {
            Awaitility.await().until(() -> {
                get(ready.path("edge").asText(), "/healthz?token=secret");
                return tail.out().contains("GET /healthz");
            });
            Awaitility.await().until(() -> {
                Captured.run("runtime", "create", "acme", "a" + System.nanoTime(), "--admin", admin,
                        "--admin-token-file", folder.resolve("admin.token").toString());
                return events.out().contains("{\"event\":\"created\",\"at\":");
            });

            assertThat(tail.out())
                    .containsPattern("\\d\\d:\\d\\d:\\d\\d  acme/prod  GET /healthz  200  [0-9.]+ ms\n");
            client.printed(" access began=");
            assertThat(client.out()).containsPattern("T\\S+ GET /healthz 200 \\d+[.]\\d{3}ms access began=")
                    .contains("host=\"acme-prod.x.test\"")
                    .doesNotContain("secret");
            assertThat(tail.terminate().exitCode()).isZero();
            assertThat(events.terminate().exitCode()).isZero();
            assertThat(tail.err() + events.err()).isEmpty();
        }
    }

    private void get(String edge, String path) throws IOException {
        String[] parts = edge.split(":", -1);
        try (var socket = (SSLSocket) AuthorityFile.trusting(folder.resolve("ca.crt"))
                .getSocketFactory()
                .createSocket(parts[0], Integer.parseInt(parts[1]))) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET " + path
                            + " HTTP/1.1\r\nHost: acme-prod.x.test\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        }
    }

    @Test
    void anEnrolmentRefusedForGoodEndsWith78() throws Exception {
        Path token = folder.resolve("token");
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml")) {
            JsonNode ready = server.event("listening");
            Captured created = Captured.run("runtime", "create", "acme", "prod", "--output", "json",
                    "--admin",
                    "http://" + ready.path("admin").asText(), "--admin-token-file",
                    folder.resolve("admin.token").toString());
            Files.writeString(token,
                    new ObjectMapper().readTree(created.out()).path("enrolmentToken").asText());
            Captured another = Captured.run("runtime", "enrol-token", "acme", "prod", "--ttl", "15m",
                    "--admin", "http://" + ready.path("admin").asText(), "--admin-token-file",
                    folder.resolve("admin.token").toString());
            assertThat(another.exitCode()).isZero();
            assertThat(another.out()).contains("enrolmentToken").contains("enrolmentExpiresAt");
            Captured deleted = Captured.run("runtime", "delete", "acme", "prod", "--admin",
                    "http://" + ready.path("admin").asText(), "--admin-token-file",
                    folder.resolve("admin.token").toString());
            assertThat(deleted.exitCode()).isZero();

            try (Launched client = Launched.start(folder, "client", "--server",
                    "wss://" + ready.path("tunnel").asText(),
                    "--server-ca", "ca.crt", "--enrolment-token-file", "token", "--identity-dir", "identity",
                    "--to",
                    "http://127.0.0.1:1", "--health-listen", "127.0.0.1:0")) {
                assertThat(client.exitCode()).isEqualTo(78);
                assertThat(client.err()).startsWith("culvert: ")
                        .doesNotContain("\tat ")
                        .doesNotContain(Files.readString(token));
            }
        }
    }

    @Test
    void aClientWhoseDefaultHealthPortIsInUseTakesAnother() throws Exception {
        Path token = folder.resolve("token");
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml");
                var taken = new ServerSocket()) {
            JsonNode ready = server.event("listening");
            Captured created = Captured.run("runtime", "create", "acme", "prod", "--output", "json",
                    "--admin",
                    "http://" + ready.path("admin").asText(), "--admin-token-file",
                    folder.resolve("admin.token").toString());
            Files.writeString(token,
                    new ObjectMapper().readTree(created.out()).path("enrolmentToken").asText());
            try {
                taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 8081));
            } catch (BindException e) {
                // another process has it: all the better
            }

            try (Launched client = Launched.start(folder, "client", "--server",
                    "wss://" + ready.path("tunnel").asText(), "--server-ca", "ca.crt",
                    "--enrolment-token-file",
                    "token", "--identity-dir", "identity", "--to", "http://127.0.0.1:1")) {
                assertThat(client.event("listening").path("health").asText()).startsWith("127.0.0.1:")
                        .isNotEqualTo("127.0.0.1:8081");
                client.event("connected");
                client.printed("another process has the default health address");
                client.printed("culvert client status --health http://127.0.0.1:");
            }
            try (Launched client = Launched.start(folder, "client", "--server",
                    "wss://" + ready.path("tunnel").asText(), "--server-ca", "ca.crt", "--identity-dir",
                    "identity", "--to", "http://127.0.0.1:1", "--health-listen", "127.0.0.1:8081")) {
                assertThat(client.exitCode()).isEqualTo(69);
                assertThat(client.err()).contains("port 8081 is in use: health.listen");
            }
        }
    }

    @Test
    void aPortInUseEndsWith69AndNamesItsKey() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Launched server = Launched.start(folder, "server", "--config", "server.yaml", "--edge-listen",
                        "127.0.0.1:" + taken.getLocalPort())) {
            assertThat(server.exitCode()).isEqualTo(69);
            assertThat(server.err())
                    .startsWith("culvert: port " + taken.getLocalPort() + " is in use: edge.listen")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void aCertificateThatIsNotThereEndsWith78() throws Exception {
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml", "--edge-tls-key",
                "nowhere.key")) {
            assertThat(server.exitCode()).isEqualTo(78);
            assertThat(server.err()).contains("nowhere.key").doesNotContain("\tat ");
        }
    }

    @Test
    void aDataFolderThatCanNotBeUsedIsNamedWithItsKey() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "x");

        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml", "--data-dir",
                file.toString())) {
            assertThat(server.exitCode()).isEqualTo(78);
            assertThat(server.err())
                    .startsWith("culvert: --data-dir: dataDir: " + file + " is a file (expected: a folder")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void theAppProxyTellsWhereItListensAndDrainsOnSigterm() throws Exception {
        try (Launched proxy = Launched.start(folder, "app-proxy", "--listen", "127.0.0.1:0")) {
            JsonNode ready = proxy.event("listening");
            assertThat(ready.path("part").asText()).isEqualTo("app-proxy");
            assertThat(ready.path("listen").asText()).startsWith("127.0.0.1:");

            assertThat(proxy.terminate().exitCode()).isZero();
            assertThat(proxy.err()).isEmpty();
        }
    }

    @Test
    void theRouterTellsWhereItListensAndDrainsOnSigterm() throws Exception {
        Files.writeString(folder.resolve("router.yaml"), """
                listen: "127.0.0.1:0"
                health: { listen: "127.0.0.1:0" }
                dataDir: inbox
                policy: { webhooks: { allow: ["argo/*"] } }
                """);

        try (Launched router = Launched.start(folder, "router", "--config", "router.yaml")) {
            JsonNode ready = router.event("listening");
            assertThat(ready.path("part").asText()).isEqualTo("request-router");
            assertThat(ready.path("listen").asText()).startsWith("127.0.0.1:");
            assertThat(ready.path("health").asText()).startsWith("127.0.0.1:");

            assertThat(router.terminate().exitCode()).isZero();
            assertThat(router.err()).isEmpty();
        }
    }

    @Test
    void aRouterOnAPortInUseEndsWith69AndABadRouteWith78() throws Exception {
        Files.writeString(folder.resolve("router.yaml"), "routes: [{ path: /x/, to: \"ftp://x\" }]\n");

        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Launched router = Launched.start(folder, "router", "--listen",
                        "127.0.0.1:" + taken.getLocalPort());
                Launched misled = Launched.start(folder, "router", "--config", "router.yaml")) {
            assertThat(router.exitCode()).isEqualTo(69);
            assertThat(router.err())
                    .startsWith("culvert: port " + taken.getLocalPort() + " is in use: listen");
            assertThat(misled.exitCode()).isEqualTo(78);
            assertThat(misled.err()).contains("router.yaml", "routes[0].to").doesNotContain("\tat ");
        }
    }
}
