package dev.culvert.server.page;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.server.AdminServer;
import dev.culvert.server.page.Visitor.Answer;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages and their log-in, over HTTP. */
class PagesIT {
    private static final String HOSTILE = "<script>alert(1)</script>'\"><img src=x onerror=alert(1)>&{{7*7}}${7*7}";
    private static final Pattern ASSET = Pattern.compile("(?:href|src)=\"(/assets/[^\"]+)\"");

    @TempDir
    private Path folder;

    private AdminServer server;
    private Visitor visitor;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        visitor = new Visitor(server.address());
    }

    @AfterEach
    void stop() {
        visitor.close();
        server.close();
    }

    private void create(String account, String name) {
        assertThat(server.call("POST", "/api/v1/runtimes",
                "{\"account\":\"" + account + "\",\"name\":\"" + name + "\"}").status()).isEqualTo(201);
    }

    private void connect(String account, String name, String remote, String version) {
        RegisteredRuntime runtime = Objects
                .requireNonNull(server.store.byName(new RuntimeName(account, name)));
        await(server.store.connected(runtime.identity()).thenReturn(true));
        server.tunnels.open.add(new SessionView("7e0c1b52-0000", runtime.id(), 3, "open",
                Instant.parse("2026-01-02T03:04:05Z"), 0.0125, 2, remote, version));
    }

    private String token(String name, String role) {
        return server.call("POST", "/api/v1/admin-tokens",
                "{\"name\":\"" + name + "\",\"role\":\"" + role + "\"}").json().path("token").asText();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/runtimes", "/runtimes/acme/prod", "/live?topic=overview", "/nothing",
            "/runtimes/acme/prod/drain"})
    void withoutSessionEveryPathLeadsToTheLogin(String path) {
        create("acme", "prod");

        Answer answer = visitor.get(path);

        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.field("location")).startsWith("/login");
        assertThat(answer.text()).doesNotContain("acme");
    }

    @Test
    void scriptsAndLiveUpdatesAreToldThatTheSessionIsOver() {
        assertThat(visitor.send(visitor.request("/runtimes").header("hx-request", "true"))
                .field("hx-redirect")).isEqualTo("/login");
        Answer live = visitor.send(visitor.request("/live").header("accept", "text/event-stream"));
        assertThat(live.status()).isEqualTo(200);
        assertThat(live.field("content-type")).isEqualTo("text/event-stream");
        assertThat(live.text()).isEqualTo("event: ended\ndata: -\n\n");
    }

    @Test
    void loginSetsACookieThatScriptsAndOtherSitesDoNotGet() {
        Answer answer = visitor.enter(server.token());

        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.field("set-cookie"))
                .matches("__Host-culvert-" + server.address().port()
                        + "=[A-Za-z0-9_-]{43}; Path=/; Secure; HttpOnly; SameSite=Strict");
        assertThat(answer.field("location")).isEqualTo("/login?entered&to=%2F");
        assertThat(visitor.get("/login?entered&to=%2Fruntimes").field("location")).isEqualTo("/runtimes");
        assertThat(visitor.get("/").status()).isEqualTo(200);
    }

    @Test
    void browserThatKeptNoCookieIsToldSo() {
        assertThat(visitor.get("/login?entered&to=%2F").text()).contains("did not keep");
    }

    @ParameterizedTest
    @ValueSource(strings = {"//evil.example", "https://evil.example", "/\\evil.example",
            "javascript:alert(1)"})
    void loginLeadsToNoOtherSite(String to) {
        Answer answer = visitor.post("/login", Map.of("token", server.token(), "to", to));

        assertThat(answer.field("location")).isEqualTo("/login?entered&to=%2F");
    }

    @Test
    void wrongTokenIsRefusedAndNotRepeated() {
        Answer answer = visitor.enter("wrong-" + HOSTILE);

        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.text()).contains("not a valid token").doesNotContain("wrong-");
        assertThat(answer.field("set-cookie")).isEmpty();
    }

    @Test
    void failedLoginsOfAnAddressAreLimited() {
        for (int i = 0; i < 10; i++) {
            assertThat(visitor.enter("wrong").status()).isEqualTo(401);
        }

        Answer answer = visitor.enter("wrong");

        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.field("retry-after")).isEqualTo("60");
        assertThat(visitor.enter(server.token()).status()).isEqualTo(303);
    }

    @Test
    void loginFromAnotherSiteIsRefused() {
        Answer other = visitor.send(visitor.form("/login", Map.of("token", server.token()))
                .header("origin", "http://evil.example"));
        Answer without = visitor.send(visitor.form("/login", Map.of("token", server.token())));
        Answer sameSite = visitor.send(visitor.form("/login", Map.of("token", server.token()))
                .header("origin", "http://" + server.address())
                .header("sec-fetch-site", "same-site"));

        assertThat(other.status()).isEqualTo(403);
        assertThat(without.status()).isEqualTo(403);
        assertThat(sameSite.status()).isEqualTo(403);
    }

    @Test
    void actionWithoutTheSessionsTokenIsRefused() {
        visitor.enter(server.token());
        String csrf = visitor.csrf();

        assertThat(visitor.post("/logout", Map.of()).status()).isEqualTo(403);
        assertThat(visitor.post("/logout", Map.of("csrf", "x" + csrf)).status()).isEqualTo(403);
        assertThat(visitor.send(visitor.form("/logout", Map.of("csrf", csrf))
                .header("origin", "http://evil.example")).status()).isEqualTo(403);
        assertThat(visitor.get("/").status()).isEqualTo(200);
        assertThat(visitor.post("/logout", Map.of("csrf", csrf)).status()).isEqualTo(303);
        assertThat(visitor.get("/").status()).isEqualTo(303);
    }

    @Test
    void sessionEndsWithItsToken() {
        String token = token("ada", "operate");
        visitor.enter(token);
        assertThat(visitor.get("/").text()).contains("ada", "operate");

        server.call("DELETE", "/api/v1/admin-tokens/ada", null);

        assertThat(visitor.get("/").status()).isEqualTo(303);
    }

    @Test
    void sessionEndsWhenItsTokenIsRotated() {
        visitor.enter(token("ada", "read"));

        server.call("POST", "/api/v1/admin-tokens/ada/rotate", null);

        assertThat(visitor.get("/").status()).isEqualTo(303);
    }

    @Test
    void sessionEndsWhenItsTokenGetsAnotherRole() {
        visitor.enter(token("ada", "admin"));

        server.call("DELETE", "/api/v1/admin-tokens/ada", null);
        token("ada", "read");

        assertThat(visitor.get("/").status()).isEqualTo(303);
    }

    @Test
    void cookieIsNoCredentialOfTheApi() {
        visitor.enter(server.token());

        assertThat(visitor.get("/api/v1/runtimes").status()).isEqualTo(401);
    }

    @Test
    void bearerTokenIsNoCredentialOfThePages() {
        assertThat(visitor.send(visitor.request("/").header("authorization", "Bearer " + server.token()))
                .status()).isEqualTo(303);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/login", "/runtimes", "/nothing"})
    void everyPageHasTheFieldsThatProtectIt(String path) {
        visitor.enter(server.token());

        Answer page = visitor.get(path);

        assertThat(page.field("content-security-policy")).startsWith("default-src 'none'; script-src 'self'")
                .contains("frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'")
                .doesNotContain("unsafe");
        assertThat(page.field("x-content-type-options")).isEqualTo("nosniff");
        assertThat(page.field("referrer-policy")).isEqualTo("same-origin");
        assertThat(page.field("cross-origin-opener-policy")).isEqualTo("same-origin");
        assertThat(page.field("cross-origin-resource-policy")).isEqualTo("same-origin");
        assertThat(page.field("cache-control")).isEqualTo("no-store");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/runtimes", "/runtimes/acme/prod", "/nothing"})
    void pagesHaveNoInlineScriptOrStyle(String path) {
        create("acme", "prod");
        visitor.enter(server.token());

        assertThat(visitor.get(path).text()).doesNotContain("http://", "https://", " style=", "<style")
                .doesNotContainPattern("<script(?! src=)")
                .doesNotContainPattern(" on[a-z]+=");
    }

    @Test
    void firstVisitIsSmall() {
        visitor.enter(server.token());
        var bytes = new ByteArrayOutputStream();
        Answer page = visitor.get("/");
        bytes.writeBytes(page.response().body());
        Set<String> urls = new TreeSet<>();
        for (Matcher found = ASSET.matcher(page.text()); found.find();) {
            urls.add(found.group(1));
        }
        for (String url : urls) {
            Answer asset = visitor.send(visitor.request(url).header("accept-encoding", "gzip, br"));
            assertThat(asset.status()).as(url).isEqualTo(200);
            assertThat(asset.field("content-encoding")).isEqualTo("gzip");
            assertThat(asset.field("cache-control")).contains("immutable");
            bytes.writeBytes(asset.response().body());
        }

        assertThat(urls).hasSizeGreaterThanOrEqualTo(5);
        assertThat(bytes.size()).isLessThan(300 << 10);
    }

    @Test
    void assetsOfAnotherVersionAreNotFound() {
        assertThat(visitor.get("/assets/culvert.0123456789abcdef.css").status()).isEqualTo(404);
        assertThat(visitor.get("/assets/../culvert.css").status()).isIn(400, 404);
    }

    @Test
    void hostileTextsAreInert() {
        create("acme", "prod");
        connect("acme", "prod", HOSTILE, HOSTILE);
        visitor.enter(server.token());

        for (String path : new String[]{"/", "/runtimes", "/runtimes/acme/prod",
                "/runtimes?q=" + RuntimeList.encoded(HOSTILE) + "&sort=" + RuntimeList.encoded(HOSTILE)
                        + "&state=" + RuntimeList.encoded(HOSTILE)}) {
            assertThat(visitor.get(path).text()).as(path)
                    .doesNotContain("<script>", "<img", "'\">");
        }
        assertThat(visitor.get("/runtimes/acme/prod").text())
                .contains("&lt;script&gt;alert(1)&lt;/script&gt;");
    }

    @Test
    void listShowsStateAndFiguresOfARuntime() {
        create("acme", "prod");
        create("acme", "test");
        connect("acme", "prod", "192.0.2.7:4711", "culvert/0.1.0");
        visitor.enter(server.token());

        assertThat(visitor.get("/runtimes").text()).contains("acme/prod", "connected", "13 ms",
                "culvert/0.1.0", "acme/test", "never connected", "1–2 of 2");
    }

    @Test
    void idleRuntimeMovesNoBytes() {
        create("acme", "idle");
        connect("acme", "idle", "192.0.2.7:4711", "0.1.0");
        server.tunnels.open.replaceAll(session -> new SessionView(session.id(), session.runtimeId(), 3,
                "open", session.since(), 0.0125, 0, session.remote(), session.version()));
        visitor.enter(server.token());

        assertThat(visitor.get("/runtimes").text()).contains(">Bytes/s</th>",
                "data-label=\"Bytes/s\" class=\"num\">0 B/s</td>");
        assertThat(visitor.get("/runtimes/acme/idle").text()).contains("0 B/s");
    }

    @Test
    void theLoginNamesTheServer() {
        assertThat(visitor.get("/login").text()).contains("wss://t.example:7443");
    }

    @Test
    void listIsSearchedSortedAndCutIntoPages() {
        for (int i = 0; i < 60; i++) {
            create("acme", "r" + i);
        }
        connect("acme", "r59", "192.0.2.7:4711", "0.1.0");
        visitor.enter(server.token());

        assertThat(visitor.get("/runtimes?sort=streams").text()).containsSubsequence("acme/r59", "acme/r0");
        assertThat(visitor.get("/runtimes?page=2").text()).contains("51–60 of 60");
        assertThat(visitor.get("/runtimes?page=999").text()).contains("51–60 of 60");
        assertThat(visitor.get("/runtimes?q=r59").text()).contains("1–1 of 1");
        assertThat(visitor.get("/runtimes?state=connected").text()).contains("1–1 of 1");
        assertThat(visitor.get("/runtimes?q=nobody").text()).contains("No runtime matches");
    }

    @Test
    void emptyListSaysWhatToDo() {
        visitor.enter(server.token());

        assertThat(visitor.get("/runtimes").text()).contains("No runtimes yet", "culvert runtime create");
        assertThat(visitor.get("/").text()).contains("No runtimes yet");
    }

    @Test
    void overviewNamesARuntimeThatIsGone() {
        create("acme", "prod");
        connect("acme", "prod", "192.0.2.7:4711", "0.1.0");
        visitor.enter(server.token());
        assertThat(visitor.get("/").text()).contains("Nothing. Every runtime");

        server.tunnels.open.clear();

        assertThat(visitor.get("/").text()).contains("acme/prod is not connected.", "culvert doctor");
    }

    private void ended(String runtime, int times, int status, @Nullable Problem problem) {
        for (int i = 0; i < times; i++) {
            server.requests.traffic().count(runtime, status, problem, 12_000_000);
        }
    }

    @Test
    void overviewNamesARuntimeWhoseRequestsFail() {
        create("acme", "prod");
        create("acme", "fine");
        connect("acme", "prod", "192.0.2.7:4711", "0.1.0");
        connect("acme", "fine", "192.0.2.8:4711", "0.1.0");
        visitor.enter(server.token());
        ended("acme/fine", 50, 200, null);
        ended("acme/prod", 30, 200, null);
        ended("acme/prod", 20, 502,
                Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "the upstream refused the connection"));
        ended("acme/prod", 10, 500, null);

        String page = visitor.get("/").text();

        assertThat(page).contains("acme/prod: 30 of 60 requests (50 %) failed in the last 5 minutes",
                "Most of them: upstream-refused at upstream (20).",
                "href=\"/requests?status=5xx&amp;runtime=acme%2Fprod\"")
                .doesNotContain("Nothing. Every runtime", "acme/fine: ");
        assertThat(page).containsSubsequence("Requests of the last 5 minutes", ">acme/prod</a>", "50 %",
                "33 %", "ms", "upstream-refused at upstream", ">acme/fine</a>", "0 %");
    }

    @Test
    void overviewNamesAServiceThatAnswersWithErrors() {
        create("acme", "prod");
        connect("acme", "prod", "192.0.2.7:4711", "0.1.0");
        visitor.enter(server.token());
        ended("acme/prod", 20, 500, null);

        assertThat(visitor.get("/").text()).contains("acme/prod: 20 of 20 requests (100 %) failed",
                "Most of them: answers of the upstream (20).", "look at its log");
    }

    @Test
    void overviewNamesARuntimeThatIsCalledButNeverConnected() {
        create("acme", "prod");
        visitor.enter(server.token());
        assertThat(visitor.get("/").text()).contains("Nothing. Every runtime");
        ended("acme/prod", 1, 503, Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "not connected"));

        assertThat(visitor.get("/").text())
                .contains("acme/prod never connected, but is called: 1 request in the last 15 minutes.");
    }

    @Test
    void unknownRuntimeIsAPageWithTheProblem() {
        visitor.enter(server.token());

        Answer answer = visitor.get("/runtimes/acme/none");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.text()).contains("There is no such runtime", "<nav");
    }

    @Test
    void errorOfTheStoreIsAPageThatMayBeLoadedAgain() {
        visitor.enter(server.token());
        await(server.store.release().thenReturn(true));

        Answer answer = visitor.post("/runtimes",
                Map.of("csrf", visitor.csrf(), "account", "acme", "name", "prod"));

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.field("retry-after")).isEqualTo("1");
        assertThat(answer.text()).contains("<nav");
    }

    @Test
    void themeIsKeptInACookie() {
        visitor.enter(server.token());

        Answer answer = visitor.post("/theme",
                Map.of("csrf", visitor.csrf(), "theme", "dark", "back", "/runtimes?q=a"));

        assertThat(answer.field("location")).isEqualTo("/runtimes?q=a");
        assertThat(answer.field("set-cookie")).startsWith("culvert-theme=dark;");
        Answer byScript = visitor.send(visitor
                .form("/theme", Map.of("csrf", visitor.csrf(), "theme", "light", "back", "/"))
                .header("origin", "http://" + server.address())
                .header("hx-request", "true"));
        assertThat(byScript.status()).isEqualTo(204);
        assertThat(byScript.field("set-cookie")).startsWith("culvert-theme=light;");
        visitor.cookie += "; culvert-theme=dark";
        assertThat(visitor.get("/").text()).contains("data-theme=\"dark\"");
    }
}
