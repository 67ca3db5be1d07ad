package dev.culvert.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.observe.EndedRequest;
import dev.culvert.relay.observe.LoggedText;
import dev.culvert.relay.observe.RequestFilter;
import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.server.AdminServer;
import dev.culvert.server.page.Visitor.Answer;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages of requests, over HTTP. */
@Timeout(60)
class RequestPagesIT {
    private static final String HOSTILE = "<script>alert(1)</script>'\"><img src=x onerror=alert(1)>&{{7*7}}${7*7}\r\nevent: ended";

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

    private record Ended(String runtime, String path, String text, int status, @Nullable Problem problem,
            long totalMicros) implements EndedRequest {
        @Override
        public CharSequence requestId() {
            return text;
        }

        @Override
        public String caller() {
            return "192.0.2.7";
        }

        @Override
        public int textLength() {
            return runtime.length() + path.length() + 4 * text.length();
        }

        @Override
        public RequestRecord toRecord(String id) {
            String shown = LoggedText.of(text, 256);
            return new RequestRecord(id, "2027-01-01T00:00:00.123Z", shown, runtime, "192.0.2.7", "GET",
                    "a.example", LoggedText.of(path, 256), "HTTP/1.1", "-", "-", status,
                    problem == null ? null : problem.cause().word(),
                    problem == null ? null : problem.hop().word(),
                    problem == null ? null : LoggedText.of(problem.detail(), 256), "complete", 0, 0, shown,
                    100,
                    0, 0, 50, 0, 850, totalMicros);
        }
    }

    private void add(String runtime, String path, int status, @Nullable Problem problem, long totalMicros) {
        server.requests.add(new Ended(runtime, path, "text", status, problem, totalMicros));
    }

    private static Problem refused(String detail) {
        return Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, detail);
    }

    private void fill() {
        server.requests.page(RequestFilter.ALL, null, 1);
        add("acme/prod", "/ok", 200, null, 1000);
        add("acme/prod", "/refused", 502, refused("the upstream refused the connection"), 1000);
        add("other/one", "/slow", 404, null, 3_000_000);
    }

    private String id(String path) {
        return server.requests.page(new RequestFilter(null, path, null, null, null, null, false), null, 1)
                .items()
                .getFirst()
                .id();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/requests", "/requests/live", "/requests/any", "/problems"})
    void withoutSessionThereIsOnlyTheLogin(String path) {
        fill();

        Answer answer = visitor.get(path);

        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.text()).doesNotContain("acme");
    }

    @Test
    void aReaderSeesTheRequestsNewestFirst() {
        fill();
        visitor.enter(server.call("POST", "/api/v1/admin-tokens", "{\"name\":\"ada\",\"role\":\"read\"}")
                .json()
                .path("token")
                .asText());

        String page = visitor.get("/requests").text();

        assertThat(page).containsSubsequence("GET /slow", "GET /refused", "upstream-refused", "GET /ok")
                .contains("<a href=\"/runtimes/acme/prod\">acme/prod</a>", "00:00:00.123", "3.0 s",
                        "sse-connect=\"/requests/live?since=", "sse-swap=\"requests\"",
                        "aria-current=\"page\">Requests");
    }

    @ParameterizedTest
    @CsvSource({"runtime=acme, /ok /refused", "path=/sl, /slow", "status=5xx, /refused", "status=404, /slow",
            "cause=upstream-refused&hop=upstream, /refused", "slowerThan=2s, /slow",
            "problems=true, /refused",
            "runtime=&path=&status=&cause=&hop=&slowerThan=&problems=, /ok /refused /slow"})
    void theFormFiltersWithoutAScript(String query, String shown) {
        fill();
        visitor.enter(server.token());

        String page = visitor.get("/requests?" + query).text();

        for (String path : new String[]{"/ok", "/refused", "/slow"}) {
            assertThat(page.contains("GET " + path)).as(path).isEqualTo(shown.contains(path));
        }
        for (String field : List.of(query.split("&", -1))) {
            String value = field.substring(field.indexOf('=') + 1);
            if (!value.isEmpty()) {
                assertThat(page).contains("value=\"" + value + "\"");
                assertThat(page).containsPattern("sse-connect=\"[^\"]*" + field.replace("/", "%2F"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"status=600, status: not a value", "slowerThan=fast, slowerThan: not a value",
            "cause=none, cause: not a value"})
    void aWrongFilterIsExplainedInThePage(String query, String problem) {
        fill();
        visitor.enter(server.token());

        Answer answer = visitor.get("/requests?" + query);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("role=\"alert\">" + problem)
                .doesNotContain("GET /ok", "sse-connect");
    }

    @Test
    void anEmptyListSaysWhatToDo() {
        visitor.enter(server.token());

        assertThat(visitor.get("/requests").text()).contains("No requests yet", "runtime's host");
        assertThat(visitor.get("/requests?runtime=acme").text()).contains("No request matches yet");
    }

    @Test
    void olderRequestsAreOnTheNextPages() {
        server.requests.page(RequestFilter.ALL, null, 1);
        for (int i = 0; i < 120; i++) {
            add("acme/prod", "/n/" + i, 200, null, 1000);
        }
        visitor.enter(server.token());

        String first = visitor.get("/requests?path=/n/").text();
        String next = first.replaceAll("(?s).*href=\"(/requests\\?next=[^\"]+)\".*", "$1")
                .replace("&amp;", "&");
        String second = visitor.get(next).text();

        assertThat(first).contains("GET /n/119<", "GET /n/70<").doesNotContain("GET /n/69<");
        assertThat(second).contains("GET /n/69<", "GET /n/20<").doesNotContain("GET /n/70<", "sse-connect");
    }

    @Test
    void aProblemIsExplainedAndItsTimeShownByHops() {
        fill();
        visitor.enter(server.token());

        String page = visitor.get("/requests/" + id("/refused")).text();

        assertThat(page).contains("The upstream refused the connection",
                "the upstream refused the connection",
                "check that it runs", "href=\"/problems#upstream-refused\"", "failed here",
                "Time by hop: 1.0 ms",
                "85 %", "850 µs", "<rect class=\"bad\"",
                "curl --http1.1 --path-as-is --globoff 'http://a.example/refused'");
        assertThat(page).doesNotContain(" style=");
        assertThat(visitor.get("/problems").text()).contains("id=\"upstream-refused\"", "id=\"no-tunnel\"");
        assertThat(visitor.get("/requests/" + id("/slow")).text())
                .contains("The service itself answered this");
        assertThat(visitor.get("/requests/gone").status()).isEqualTo(404);
    }

    @Test
    void aRuntimesPageShowsItsLastProblems() {
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
        visitor.enter(server.token());
        assertThat(visitor.get("/runtimes/acme/prod").text()).contains("Recent problems", "None.");
        for (int i = 0; i < 12; i++) {
            add("acme/prod", "/p/" + i, 502, refused("no connection"), 1000);
        }
        add("other/one", "/theirs", 502, refused("no connection"), 1000);

        String page = visitor.get("/runtimes/acme/prod").text();

        assertThat(page).containsSubsequence("/requests?runtime=acme/prod", "GET /p/11<", "GET /p/2<")
                .doesNotContain("GET /p/1<", "/theirs");
        assertThat(server.requests.isRecording()).isFalse();
    }

    @Test
    void hostileTextsAreInert() throws Exception {
        server.requests.page(RequestFilter.ALL, null, 1);
        visitor.enter(server.token());
        try (HttpClient client = HttpClient.newHttpClient()) {
            var live = client.send(
                    visitor.request("/requests/live?since=" + server.requests.position()).build(),
                    BodyHandlers.ofInputStream());
            server.requests
                    .add(new Ended("acme/prod", "/" + HOSTILE, HOSTILE, 502, refused(HOSTILE), 1000));
            String query = URLEncoder.encode(HOSTILE, StandardCharsets.UTF_8);
            String id = server.requests.page(RequestFilter.ALL, null, 1).items().getFirst().id();
            for (String path : new String[]{"/requests", "/requests/" + id,
                    "/requests?runtime=" + query + "&path=" + query + "&cause=" + query + "&next=" + query,
                    "/requests?path=" + query + "&runtime=" + query + "&next=" + query,
                    "/requests/" + query}) {
                assertThat(visitor.get(path).text()).as(path).doesNotContain("<script>", "<img", "'\">");
            }
            assertThat(visitor.get("/requests/" + id).text()).contains("&lt;script");
            var lines = new BufferedReader(new InputStreamReader(live.body(), StandardCharsets.UTF_8));
            var rows = new StringBuilder();
            for (String line = lines.readLine(); !line.contains("</tr>"); line = lines.readLine()) {
                rows.append(line).append('\n');
            }
            live.body().close();
            assertThat(rows.toString()).contains("event: requests\ndata: <tr id=", "&lt;script")
                    .doesNotContain("<script>", "<img", "\nevent: ended");
        }
    }

    @Test
    void oneSessionHasSomeOfTheLivePagesAndGivesThemBack() throws Exception {
        visitor.enter(server.token());
        HttpClient client = HttpClient.newHttpClient();
        List<InputStream> open = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            open.add(client.send(visitor.request("/requests/live").build(), BodyHandlers.ofInputStream())
                    .body());
        }

        Answer refused = visitor.get("/requests/live");

        assertThat(refused.status()).isEqualTo(503);
        client.shutdownNow();
        Awaitility.await().untilAsserted(() -> {
            try (HttpClient again = HttpClient.newHttpClient()) {
                var live = again.send(visitor.request("/requests/live").build(),
                        BodyHandlers.ofInputStream());
                live.body().close();
                assertThat(live.statusCode()).isEqualTo(200);
            }
        });
        for (InputStream each : open) {
            each.close();
        }
    }

    @Test
    void rowsAreSentAsRequestsEndAndMissedOnesToo() throws Exception {
        fill();
        visitor.enter(server.token());
        String since = id("/refused");
        try (HttpClient client = HttpClient.newHttpClient()) {
            var live = client.send(visitor.request("/requests/live?since=" + since).build(),
                    BodyHandlers.ofInputStream());
            assertThat(live.headers().firstValue("content-type")).contains("text/event-stream");
            var lines = new BufferedReader(new InputStreamReader(live.body(), StandardCharsets.UTF_8));
            assertThat(lines.readLine()).isEqualTo("event: beat");
            var rows = new StringBuilder();
            for (String line = lines.readLine(); !line.contains("</tr>"); line = lines.readLine()) {
                rows.append(line).append('\n');
            }
            live.body().close();
            assertThat(rows.toString()).contains("GET /slow").doesNotContain("GET /ok", "GET /refused");

            var unknown = client.send(visitor.request("/requests/live?since=1").build(),
                    BodyHandlers.ofInputStream());
            assertThat(new BufferedReader(new InputStreamReader(unknown.body(), StandardCharsets.UTF_8))
                    .readLine()).isEqualTo("event: missed");
            unknown.body().close();
        }
        assertThat(visitor.get("/requests/live?status=600").status()).isEqualTo(400);
    }
}
