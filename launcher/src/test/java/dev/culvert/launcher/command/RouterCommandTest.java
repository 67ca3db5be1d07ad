package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouterCommandTest {
    private static final String ROUTES = """
            routes:
              - { path: /a/, to: "http://a:1" }
              - { path: /a/b/, host: "*.example.com", methods: [POST], headers: { x-env: staging }, to: "http://b:2", stripPrefix: true }
              - { path: "/webhooks/{namespace}/{eventSource}/", to: "http://{eventSource}.{namespace}.svc" }
            policy: { webhooks: { allow: [ "argo/*" ] } }
            """;

    @TempDir
    Path folder;

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    private Captured explain(String... arguments) throws IOException {
        String[] all = new String[arguments.length + 4];
        all[0] = "router";
        all[1] = "explain";
        all[2] = "--config";
        all[3] = file("router.yaml", ROUTES);
        System.arraycopy(arguments, 0, all, 4, arguments.length);
        return Captured.run(all);
    }

    @Test
    void routesAreListedInTheOrderOfTheFile() throws IOException {
        Captured captured = Captured.run("router", "routes", "--config", file("router.yaml", ROUTES));

        assertThat(captured.err()).isEmpty();
        assertThat(captured.out().lines().map(line -> line.replaceAll(" +", " "))).containsExactly(
                "ROUTE PATH HOST METHODS HEADERS TO DELIVERY",
                "routes[0] /a/ * * - http://a:1 direct",
                "routes[1] /a/b/ *.example.com POST x-env:staging http://b:2 direct",
                "routes[2] /webhooks/{namespace}/{eventSource}/ * * - http://{eventSource}.{namespace}.svc durable");
    }

    @Test
    void theDefaultRoutesAreShownWithoutAFile() {
        Captured captured = Captured.run("router", "routes", "--output", "json");

        assertThat(captured.out()).contains("\"/app-proxy/\"", "\"next\" : null");
    }

    @Test
    void aRequestIsExplainedWithTheRoutesItDoesNotTake() throws IOException {
        Captured captured = explain("https://app.example.com/a/b/c?d", "--method", "POST", "--header",
                "X-Env: staging");

        assertThat(captured.err()).isEmpty();
        assertThat(captured.exitCode()).isZero();
        assertThat(captured.out().lines()).containsExactly(
                "POST /a/b/c goes to http://b:2 as /c?d",
                "  routes[1] /a/b/: taken",
                "  routes[0] /a/: would take it, but /a/b/ is more specific, or stands first",
                "  routes[2] /webhooks/{namespace}/{eventSource}/: the path is not below /webhooks/{namespace}/{eventSource}/");
    }

    @Test
    void aConditionThatIsNotMetIsNamed() throws IOException {
        assertThat(explain("/a/b/c").out()).contains("routes[1] /a/b/: the host is not *.example.com");
        assertThat(explain("http://x.example.com/a/b").out())
                .contains("routes[1] /a/b/: the method is none of POST");
        assertThat(explain("http://x.example.com/a/b", "--method", "POST").out())
                .contains("routes[1] /a/b/: there is no field x-env: staging");
    }

    @Test
    void whatNoListenerReadsGoesNowhere() throws IOException {
        for (String target : List.of("/a b", "/a?x=#1", "http://x.example.com/a?b c", "/\u00e4")) {
            Captured captured = explain(target);
            assertThat(captured.exitCode()).as(target).isEqualTo(1);
            assertThat(captured.out())
                    .contains("is refused by the listener, with 400 bad-request: the target has a");
        }
        assertThat(explain("/a", "--method", "TRACE").out())
                .contains("by the listener, with 405 method-not-allowed");
    }

    @Test
    void aRefusalIsExplainedAndEndsWithOne() throws IOException {
        Captured denied = explain("/webhooks/ci/x", "--method", "POST");
        Captured malformed = explain("/a/../b");

        assertThat(denied.exitCode()).isEqualTo(1);
        assertThat(denied.out()).startsWith("POST /webhooks/ci/x is refused with 403 not-allowed: ")
                .contains("{eventSource}/: taken");
        assertThat(malformed.out()).startsWith("GET /a/../b is refused with 400 bad-request: ");
    }

    @Test
    void theRouterInsideAClientIsExplainedFromItsFile() throws IOException {
        String client = file("client.yaml", "server: wss://t.example:7443\nrouter:\n"
                + ROUTES.indent(2));

        Captured captured = Captured.run("router", "explain", "/a", "--config", client);

        assertThat(captured.err()).isEmpty();
        assertThat(captured.out()).startsWith("GET /a goes to http://a:1 as /a\n");
    }

    @Test
    void aRouteThatNothingReachesIsNamedWithFileLineAndKey() throws IOException {
        String wrong = file("wrong.yaml", """
                routes:
                  - { path: /a/, to: 'http://a' }
                  - path: /a/
                    to: http://b
                """);

        Captured captured = Captured.run("router", "routes", "--config", wrong);

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.err())
                .startsWith("culvert: " + wrong + ":3: routes[1].path: \"/a/\" (expected: each path once");
    }

    @Test
    void theExampleOfThePageForOperatorsIsAFileThatWorks() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "routing.md"));
        int begin = page.indexOf("```yaml\n") + 8;
        String example = file("example.yaml", page.substring(begin, page.indexOf("```", begin)));

        Captured captured = Captured.run("router", "explain", "/v1/x", "--method", "POST", "--header",
                "x-env:a", "--config", example);

        assertThat(captured.err()).isEmpty();
        assertThat(captured.out()).startsWith("POST /v1/x goes to http://api:8080 as /api/v2/x\n")
                .contains("the host is not beta.example.com");
    }

    @Test
    void theExampleForWebhooksOnlyLetsNothingElseIn() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "routing.md"));
        int begin = page.indexOf("```yaml\n", page.indexOf("## Webhooks only")) + 8;
        String example = file("example.yaml", page.substring(begin, page.indexOf("```", begin)));

        Captured wanted = Captured.run("router", "explain", "/webhooks/argo/github", "--method", "POST",
                "--config", example);
        Captured other = Captured.run("router", "explain", "/app-proxy/api/info", "--config", example);
        Captured source = Captured.run("router", "explain", "/webhooks/argo/push", "--method", "POST",
                "--config", example);

        for (Captured each : List.of(wanted, other, source)) {
            assertThat(page).contains("\n" + each.out().lines().findFirst().orElseThrow() + "\n");
        }
        assertThat(wanted.exitCode()).isZero();
        assertThat(other.out()).startsWith("GET /app-proxy/api/info is refused with 404 no-route");
        assertThat(source.out()).startsWith("POST /webhooks/argo/push is refused with 403 not-allowed");
    }

    @Test
    void whatIsNoUrlOrFieldIsWrongUsage() throws IOException {
        assertThat(explain("a/b").exitCode()).isEqualTo(64);
        assertThat(explain("/a", "--header", "x").exitCode()).isEqualTo(64);
        assertThat(explain("/a", "--address", "x").exitCode()).isEqualTo(64);
    }
}
