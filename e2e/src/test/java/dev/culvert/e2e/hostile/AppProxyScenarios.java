package dev.culvert.e2e.hostile;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * What callers do to a cluster's App-Proxy, which is in the attacker's process: what another caller of it notices is a fault
 * of the scenario.
 */
final class AppProxyScenarios {
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int CHECKS_PER_SECOND = 2;

    private AppProxyScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("P8", "Git requests that drip, more than there may be processes", 40,
                        AppProxyScenarios::git),
                new Scenario("P11", "GraphQL requests that announce 8 MiB and drip", 20,
                        AppProxyScenarios::graphQl),
                new Scenario("large-answers", "GraphQL answers of megabytes that nobody reads, at -Xmx512m",
                        64, LargeAnswers::attack));
    }

    private static void git(Attack attack, double requests) throws Exception {
        Path repositories = Files.createTempDirectory(attack.target.folder(), "git");
        int exit = new ProcessBuilder("git", "init", "--quiet", "--bare", "demo.git")
                .directory(repositories.toFile())
                .inheritIO()
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException("git init: " + exit);
        }
        int port = start(attack, AppProxyConfig.of(ANY_PORT, null, AppProxyConfig.Handlers
                .of(AppProxyConfig.Git.of(repositories))));
        drip(attack, requests, port, "POST /app-proxy/git/demo.git/git-upload-pack HTTP/1.1",
                "Content-Type: application/x-git-upload-pack-request");
        attack.inTurn(CHECKS_PER_SECOND, () -> expect(attack, port,
                "GET /app-proxy/git/demo.git/info/refs?service=git-upload-pack HTTP/1.1\r\n\r\n"));
    }

    private static void graphQl(Attack attack, double requests) throws Exception {
        Path folder = Files.createTempDirectory(attack.target.folder(), "plane");
        ControlPlane plane = Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(ANY_PORT, folder.resolve("data"),
                        ControlPlaneConfig.Nudge.none()))
                .block(PATIENCE));
        attack.keep(() -> plane.stop(Duration.ZERO).block(PATIENCE));
        String key = Files.readString(folder.resolve("data/admin.key")).strip();
        Path runtimeKey = Files.writeString(folder.resolve("runtime.key"), key);
        var settings = new ControlPlaneSettings(URI.create("http://" + plane.address()), runtimeKey, null,
                null, Duration.ofMinutes(5), Duration.ofSeconds(1), Duration.ofSeconds(1),
                Duration.ofSeconds(3), 1000, false);
        int port = start(attack, AppProxyConfig.of(ANY_PORT, null, AppProxyConfig.Handlers
                .of(new WorkflowsSettings(null, new ApiSettings(URI.create("http://127.0.0.1:1"), null, null),
                        "in-cluster", 8)))
                .with(settings, null));
        drip(attack, requests, port, "POST /app-proxy/api/graphql HTTP/1.1",
                "Content-Type: application/json");
        String query = "{\"query\":\"{__typename}\"}";
        attack.inTurn(CHECKS_PER_SECOND, () -> expect(attack, port,
                "POST /app-proxy/api/graphql HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: "
                        + key + "\r\nContent-Length: " + query.length() + "\r\n\r\n" + query));
    }

    private static int start(Attack attack, AppProxyConfig config) {
        AppProxy proxy = Objects.requireNonNull(AppProxy.start(config).block(PATIENCE));
        attack.keep(() -> proxy.stop(Duration.ZERO).block(PATIENCE));
        return proxy.address().port();
    }

    /** Requests of one caller that announce a body, and bring a byte of it a second. */
    private static void drip(Attack attack, double requests, int port, String... lines)
            throws InterruptedException {
        byte[] head = (String.join("\r\n", lines)
                + "\r\nHost: demo\r\nContent-Length: 8388608\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        for (Socket caller : attack.connected(requests, () -> Tls.plain(attack.address(), port))) {
            attack.aside(() -> {
                OutputStream out = caller.getOutputStream();
                out.write(head);
                attack.inTurn(1, () -> out.write('{'));
            });
        }
    }

    /** Another caller's request, which must be served meanwhile. */
    private static void expect(Attack attack, int port, String request) throws IOException {
        try (Socket caller = Tls.plain("127.0.1.2", port)) {
            caller.setSoTimeout(Tls.PATIENCE_MILLIS);
            caller.getOutputStream()
                    .write(request.replaceFirst("\r\n", "\r\nHost: demo\r\nConnection: close\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            String head = RawHttp1.head(caller.getInputStream());
            if (!head.startsWith("HTTP/1.1 200")) {
                attack.fault("another caller got " + head.lines().findFirst().orElse(""));
            }
        } catch (IOException e) {
            if (attack.isOpen()) {
                attack.fault("another caller got " + e);
            }
            throw e;
        }
    }
}
