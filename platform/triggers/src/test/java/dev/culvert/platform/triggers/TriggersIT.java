package dev.culvert.platform.triggers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.platform.directory.testing.Plane;
import dev.culvert.platform.directory.testing.Plane.Answer;
import dev.culvert.store.Database.Engine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Events, triggers and what they start, in a control plane on both engines. */
@ParameterizedClass
@EnumSource
class TriggersIT {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String SECRET = "open sesame 42";
    private static final String HEAD = "1234567890123456789012345678901234567890";

    private final Engine engine;

    @TempDir
    Path folder;
    private Plane plane;

    TriggersIT(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void start() {
        plane = Plane.start(folder, Plane.store(engine));
    }

    @AfterEach
    void stop() {
        plane.close();
    }

    private Answer call(String method, String path, Object body) {
        return call(plane.admin, method, path, body);
    }

    private Answer call(String key, String method, String path, Object body) {
        return plane.call(method, path, key, body.equals("") ? "" : json(body));
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Creates an event. Returns its URI. */
    private String event(String type, String kind, Map<String, String> values) {
        Answer made = call("POST", "/api/hermes/events",
                Map.of("type", type, "kind", kind, "secret", SECRET, "values", values));
        assertThat(made.status()).as(made.json().toString()).isEqualTo(201);
        return made.json().path("uri").asText();
    }

    private void link(String event, String pipeline, Map<String, String> filters) {
        Answer made = call("POST", "/api/hermes/triggers/" + segment(event) + "/" + segment(pipeline),
                Map.of("filters", filters));
        assertThat(made.status()).as(made.json().toString()).isEqualTo(200);
    }

    private Answer post(String path, String body, String... fields) {
        HttpRequest.Builder request = HttpRequest.newBuilder(plane.uri(path))
                .POST(BodyPublishers.ofString(body))
                .header("content-type", "application/json");
        return plane.send(fields.length == 0 ? request.build() : request.headers(fields).build());
    }

    private Answer run(String event, String secret, Map<String, String> variables, String... fields) {
        return post("/api/hermes/run/" + segment(event),
                json(Map.of("secret", secret, "original", "body", "variables", variables)), fields);
    }

    private static String hmac(String algorithm, String text) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), algorithm));
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Answer github(String event, String delivery, String body) {
        return post("/api/hermes/git/github?account=" + plane.account(), body, "x-github-event", event,
                "x-github-delivery", delivery, "x-hub-signature-256", "sha256=" + hmac("HmacSHA256", body));
    }

    private static String push(String ref, String message) {
        return json(Map.of("ref", ref, "before", "0".repeat(40), "after", HEAD, "repository",
                Map.of("full_name", "acme/web", "name", "web"), "head_commit",
                Map.of("id", HEAD, "message", message, "author", Map.of("username", "jo"), "url",
                        "https://github.test/acme/web/commit/" + HEAD)));
    }

    private JsonNode items(String path) {
        Answer answer = call("GET", path, "");
        assertThat(answer.status()).as(answer.json().toString()).isEqualTo(200);
        return answer.json().path("items");
    }

    @Test
    void aSignedEventStartsWhatIsLinkedToIt() {
        String event = event("registry", "dockerhub", Map.of("namespace", "acme", "name", "web"));
        assertThat(run(event, SECRET, Map.of()).status()).isEqualTo(204); // nothing is linked
        link(event, "shop/deploy", Map.of("tag", "^v"));
        link(event, "shop/scan", Map.of());

        Answer both = run(event, SECRET, Map.of("tag", "v1.2"));
        assertThat(both.status()).isEqualTo(200);
        assertThat(both.json()).extracting(run -> run.path("pipeline").asText())
                .containsExactly("shop/deploy", "shop/scan");
        for (String algorithm : List.of("HmacSHA1", "HmacSHA256", "HmacSHA512")) {
            assertThat(run(event, hmac(algorithm, "body"), Map.of("tag", "latest")).json()).hasSize(1);
        }

        JsonNode runs = items("/api/hermes/runs?pipeline=" + segment("shop/deploy"));
        assertThat(runs).hasSize(1);
        assertThat(runs.path(0).path("state").asText()).isEqualTo("recorded");
        String id = runs.path(0).path("id").asText();
        assertThat(variables(runs.path(0))).containsEntry("EVENT_TAG", "v1.2")
                .containsEntry("EVENT_PAYLOAD", "body");
        assertThat(call("POST", "/api/hermes/runs/" + id + "/replay", "").status()).isEqualTo(200);
        assertThat(items("/api/hermes/runs?pipeline=" + segment("shop/deploy"))).hasSize(2);
        assertThat(items("/api/hermes/refusals").path(0).path("why").path(0).asText())
                .isEqualTo("no pipeline is linked to the event");
    }

    @Test
    void aWrongSecretAndAnAbsentEventAreToldAlike() {
        String event = event("registry", "quay", Map.of("namespace", "acme", "name", "web"));
        link(event, "a", Map.of());

        Answer wrong = run(event, "open sesame 43", Map.of());
        Answer absent = run(event + "0", SECRET, Map.of());

        assertThat(wrong.status()).isEqualTo(403);
        assertThat(absent.status()).isEqualTo(403);
        assertThat(wrong.json().path("detail")).isEqualTo(absent.json().path("detail"));
        assertThat(post("/api/hermes/run/" + segment(event), "{}").json().path("detail").asText())
                .isEqualTo("secret: missing (expected: a string)");
        assertThat(items("/api/hermes/runs")).isEmpty();
        for (int i = 0; i < 10; i++) {
            run(event, "guess number " + i, Map.of());
        }
        assertThat(run(event, SECRET, Map.of()).status()).isEqualTo(429);
    }

    @Test
    void aDeliveryStartsOnce() {
        String event = event("registry", "dockerhub", Map.of("namespace", "acme", "name", "web"));
        link(event, "a", Map.of());

        JsonNode first = run(event, SECRET, Map.of(), "culvert-webhook-id", "7").json();

        assertThat(run(event, SECRET, Map.of(), "culvert-webhook-id", "7").json()).isEqualTo(first);
        assertThat(run(event, SECRET, Map.of(), "idempotency-key", "8").json()).isNotEqualTo(first);
        assertThat(items("/api/hermes/runs")).hasSize(2);
    }

    @Test
    void aPushOfGithubBecomesARunWithThePlatformsVariables() {
        String event = event("git", "github", Map.of("owner", "Acme", "repo", "web"));
        link(event, "shop/build", Map.of("branch", "^main$"));
        String body = push("refs/heads/main", "mends it");

        assertThat(github("push", "d1", body).status()).isEqualTo(200);
        assertThat(github("push", "d1", body).status()).isEqualTo(200);
        assertThat(github("push", "d2", push("refs/heads/other", "mends it")).status()).isEqualTo(204);
        assertThat(github("ping", "d3", body).status()).isEqualTo(204);
        assertThat(post("/api/hermes/git/github?account=" + plane.account(), body + " ", "x-github-event",
                "push", "x-hub-signature-256", "sha256=" + hmac("HmacSHA256", body)).status()).isEqualTo(403);

        JsonNode runs = items("/api/hermes/runs");
        assertThat(runs).hasSize(1);
        assertThat(variables(runs.path(0))).containsEntry("CF_BRANCH", "main")
                .containsEntry("CF_REVISION", HEAD)
                .containsEntry("CF_SHORT_REVISION", HEAD.substring(0, 7))
                .containsEntry("CF_COMMIT_MESSAGE", "mends it")
                .containsEntry("CF_COMMIT_AUTHOR", "jo")
                .containsEntry("CF_REPO_OWNER", "acme")
                .containsEntry("CF_REPO_NAME", "web")
                .containsEntry("EVENT_PAYLOAD", body);
        assertThat(items("/api/hermes/refusals").path(0).path("why").path(0).asText())
                .isEqualTo("shop/build: filter branch: \"other\" does not match ^main$");
    }

    private Map<String, String> variables(JsonNode listed) {
        JsonNode run = call("GET", "/api/hermes/runs/" + listed.path("id").asText(), "").json();
        return JSON.convertValue(run.path("variables"),
                JSON.getTypeFactory().constructMapType(Map.class, String.class, String.class));
    }

    @Test
    void aPushThatSaysSoStartsNothing() {
        link(event("git", "github", Map.of("owner", "acme", "repo", "web")), "a", Map.of());

        assertThat(github("push", "d1", push("refs/heads/main", "docs [Skip CI]")).status()).isEqualTo(204);

        assertThat(items("/api/hermes/refusals").path(0).path("why").path(0).asText())
                .isEqualTo("a: the commit message says [skip ci]");
    }

    @Test
    void aListIsReadPageByPage() {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            all.add(event("registry", "quay", Map.of("namespace", "acme", "name", "web" + i)));
        }
        List<String> seen = new ArrayList<>();
        String next = "";
        int pages = 0;
        while (!next.equals("null")) {
            Answer page = call("GET", "/api/hermes/events?limit=2" + (next.isEmpty() ? "" : "&next=" + next),
                    "");
            page.json().path("items").forEach(event -> seen.add(event.path("uri").asText()));
            next = page.json().path("next").asText();
            pages++;
        }
        assertThat(seen).isEqualTo(all);
        assertThat(pages).isEqualTo(3);
        Answer first = call("GET", "/api/hermes/events?limit=2", "");
        String cursor = first.json().path("next").asText();
        for (String wrong : List.of("/api/hermes/events?limit=0", "/api/hermes/events?limit=201",
                "/api/hermes/events?next=x", "/api/hermes/triggers?next=" + cursor,
                "/api/hermes/events?page=2", "/api/hermes/events?limit=1&limit=2")) {
            assertThat(call("GET", wrong, "").status()).as(wrong).isEqualTo(400);
        }
    }

    @Test
    void rulesDecideWhatAMemberMayDo() {
        String event = event("registry", "quay", Map.of("namespace", "acme", "name", "web"));
        String member = plane.userOf(plane.account(), "jo", false);
        assertThat(call(member, "GET", "/api/hermes/events", "").status()).isEqualTo(403);
        String user = call(member, "GET", "/api/me", "").json().path("id").asText();
        call("POST", "/api/abac", Map.of("entity", "pipelines", "actions", List.of("VIEW"), "users",
                List.of(user)));
        call("POST", "/api/abac", Map.of("entity", "pipelines", "actions", List.of("UPDATE"), "users",
                List.of(user), "attributes", Map.of("name", List.of("shop/*"))));

        assertThat(call(member, "GET", "/api/hermes/events", "").json().path("items")).hasSize(1);
        String triggers = "/api/hermes/triggers/" + segment(event) + "/";
        assertThat(call(member, "POST", triggers + segment("shop/x"), "").status()).isEqualTo(200);
        assertThat(call(member, "POST", triggers + segment("bank/x"), "").status()).isEqualTo(403);
        String other = plane.otherAccount("other");
        assertThat(call(other, "GET", "/api/hermes/events", "").json().path("items")).isEmpty();
        assertThat(call(other, "POST", triggers + "x", "").status()).isEqualTo(404);
        assertThat(call(other, "DELETE", "/api/hermes/events/" + segment(event), "").status()).isEqualTo(404);
        assertThat(call("DELETE", "/api/hermes/events/" + segment(event), "").status()).isEqualTo(409);
        assertThat(call("DELETE", triggers + segment("shop/x"), "").status()).isEqualTo(204);
        assertThat(call("DELETE", "/api/hermes/events/" + segment(event) + "/ctx", "").status())
                .isEqualTo(204);
    }

    @Test
    void wrongInputNamesWhatWasExpected() {
        String event = event("registry", "quay", Map.of("namespace", "acme", "name", "web"));
        assertThat(problem("/api/hermes/events", Map.of("type", "mail", "kind", "smtp")))
                .contains("type and kind: there is no event of type mail and kind smtp (expected: one of [");
        assertThat(problem("/api/hermes/events",
                Map.of("type", "registry", "kind", "quay", "values", Map.of("namespace", "a"))))
                .isEqualTo("values.name: missing (expected: the repository's name, as web)");
        assertThat(problem("/api/hermes/events", Map.of("type", "registry", "kind", "quay", "secret", "short",
                "values", Map.of("namespace", "a", "name", "b"))))
                .isEqualTo("secret: a text of 5 characters (expected: 8 to 256, or !generate)");
        assertThat(problem("/api/hermes/triggers/" + segment(event) + "/a",
                Map.of("filters", Map.of("tag", "(")))).contains("filters.tag: no pattern: ");
        assertThat(problem("/api/hermes/triggers/" + segment(event) + "/a",
                Map.of("filters", Map.of("tag", "((a{100}){100}){100}"))))
                .startsWith("filters.tag: repetitions that are too large");
        for (String expression : List.of("* * * * * *", "@every 59s", "0 0 0 30 2 *", "61 * * * * *",
                "TZ=Mars/Base 0 0 0 * * *", "@fortnightly", "0 0")) {
            assertThat(problem("/api/hermes/events", Map.of("type", "cron", "kind", "codefresh", "values",
                    Map.of("expression", expression, "message", "m")))).as(expression)
                    .startsWith("values.expression: ")
                    .contains("(expected: ");
        }
    }

    private String problem(String path, Object body) {
        Answer answer = call("POST", path, body);
        assertThat(answer.status()).as(answer.json().toString()).isEqualTo(400);
        return answer.json().path("detail").asText();
    }

    @Test
    void registriesPushes() {
        link(event("registry", "dockerhub", Map.of("namespace", "acme", "name", "web")), "hub", Map.of());
        link(event("registry", "docker", Map.of("namespace", "*", "name", "*")), "own", Map.of());
        String query = "?account=" + plane.account() + "&secret=" + segment(SECRET);

        Answer hub = post("/nomios/dockerhub" + query,
                """
                        {"push_data": {"pushed_at": 1.385141110E9, "pusher": "jo", "tag": "v1"},
                         "repository": {"namespace": "acme", "name": "web", "repo_url": "https://hub.test/acme/web"}}""");
        String own = """
                {"events": [{"id": "e1", "timestamp": "2026-11-28T10:00:00.5Z", "action": "push",
                  "target": {"repository": "team/api", "tag": "latest", "url": "http://r/v2"}, "actor": {}},
                 {"id": "e2", "timestamp": "2026-11-28T10:00:00Z", "action": "pull", "target": {}}]}""";

        assertThat(hub.status()).isEqualTo(200);
        assertThat(post("/nomios/docker" + query, own).status()).isEqualTo(200);
        assertThat(post("/nomios/docker?account=" + plane.account(), own, "authorization",
                "Bearer " + SECRET).status()).isEqualTo(200); // the same push again
        String hubBody = "{\"push_data\": {}, \"repository\": {\"namespace\": \"acme\", \"name\": \"web\"}}";
        post("/nomios/dockerhub" + query, hubBody, "culvert-webhook-id", "7");
        post("/nomios/dockerhub" + query, hubBody, "culvert-webhook-id", "7");
        assertThat(post("/nomios/docker" + query + "x", own).status()).isEqualTo(403);
        assertThat(post("/nomios/dockerhub" + query, "{\"repository\": []}").status()).isEqualTo(400);
        JsonNode runs = items("/api/hermes/runs");
        assertThat(runs).extracting(run -> run.path("pipeline").asText())
                .containsExactly("hub", "own", "hub");
        assertThat(variables(runs.path(2))).containsEntry("EVENT_PUSHED_AT", "2013-11-22T17:25:10Z");
        assertThat(variables(runs.path(1))).containsEntry("EVENT_NAMESPACE", "team");
    }

    @Test
    void itsDatabaseHoldsNoSecret() {
        event("registry", "quay", Map.of("namespace", "acme", "name", "web"));
        String generated = call("POST", "/api/hermes/events",
                Map.of("type", "git", "kind", "gitlab", "secret",
                        "!generate", "values", Map.of("owner", "a/b", "repo", "c")))
                .json()
                .path("secret")
                .asText();

        assertThat(generated).hasSizeGreaterThan(30);
        assertThat(plane.dump()).doesNotContain(SECRET, generated);
    }
}
