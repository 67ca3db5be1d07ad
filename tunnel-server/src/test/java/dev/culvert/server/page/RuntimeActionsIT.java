package dev.culvert.server.page;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.server.AdminServer;
import dev.culvert.server.page.Visitor.Answer;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators do on the pages of runtimes, by their role. */
class RuntimeActionsIT {
    private static final String PROD = "/runtimes/acme/prod";

    @TempDir
    private Path folder;

    private AdminServer server;
    private Visitor visitor;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        visitor = new Visitor(server.address());
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
        RegisteredRuntime runtime = prod();
        await(server.store.connected(runtime.identity()).thenReturn(true));
        server.tunnels.open.add(new SessionView("s1", runtime.id(), 3, "open",
                Instant.parse("2026-01-02T03:04:05Z"), 0.0125, 2, "192.0.2.7:4711", "0.1.0"));
    }

    @AfterEach
    void stop() {
        visitor.close();
        server.close();
    }

    private RegisteredRuntime prod() {
        return Objects.requireNonNull(server.store.byName(new RuntimeName("acme", "prod")));
    }

    private void enter(String role) {
        visitor.enter(server.call("POST", "/api/v1/admin-tokens",
                "{\"name\":\"ada\",\"role\":\"" + role + "\"}").json().path("token").asText());
    }

    private Answer act(String path, Map<String, String> more) {
        Map<String, String> fields = new HashMap<>(more);
        fields.put("csrf", visitor.csrf());
        return visitor.post(path, fields);
    }

    private String lastAudit() {
        return server.call("GET", "/api/v1/audit?limit=1", null).json().at("/items/0").toString();
    }

    @Test
    void readerSeesNoButtonThatIsRefused() {
        enter("read");

        String page = visitor.get(PROD).text();

        assertThat(page).doesNotContain("/enrol\"", "/drain", "/disconnect", "/revoke", "/delete",
                "Change limits",
                "Change hosts");
        assertThat(visitor.get("/runtimes").text()).doesNotContain("Create a runtime");
    }

    @Test
    void operatorSeesWhatTheRoleMay() {
        enter("operate");

        assertThat(visitor.get(PROD).text())
                .contains("/drain\"", "/disconnect\"", "Change limits")
                .doesNotContain("/enrol\"", "/revoke", "/delete", "Change hosts");
    }

    @ParameterizedTest
    @CsvSource({"read, drain", "read, disconnect", "read, revoke", "read, delete", "read, enrol",
            "read, limits",
            "read, hosts", "operate, enrol", "operate, revoke", "operate, delete", "operate, hosts"})
    void apiRefusesWhatTheRoleMayNot(String role, String action) {
        enter(role);

        Answer answer = act(PROD + "/" + action, Map.of());

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.text()).contains("this call needs an admin token of the role");
        assertThat(server.tunnels.open).hasSize(1);
        assertThat(lastAudit()).contains("admin token made");
    }

    @ParameterizedTest
    @ValueSource(strings = {"drain", "disconnect", "revoke", "delete", "enrol", "limits", "hosts"})
    void actionWithoutTheSessionsTokenChangesNothing(String action) {
        enter("admin");

        assertThat(visitor.post(PROD + "/" + action, Map.of()).status()).isEqualTo(403);
        assertThat(server.tunnels.open).hasSize(1);
        assertThat(lastAudit()).contains("admin token made");
    }

    @ParameterizedTest
    @CsvSource({"drain, 30 s", "disconnect, cut", "revoke, worthless", "delete, gone"})
    void everyActionAsksFirst(String action, String word) {
        enter("admin");

        String page = visitor.get(PROD + "/" + action).text();

        assertThat(page).contains("id=\"confirm\"", "acme/prod", word,
                "action=\"" + PROD + "/" + action + "\"",
                "Cancel");
        assertThat(server.tunnels.open).hasSize(1);
    }

    @Test
    void drainSaysWhatItDidAndIsAudited() {
        enter("operate");

        Answer answer = act(PROD + "/drain", Map.of());

        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.field("location")).isEqualTo(PROD);
        assertThat(visitor.get(PROD).text()).contains("1 session drains.");
        assertThat(visitor.get(PROD).text()).doesNotContain("1 session drains.");
        assertThat(lastAudit()).contains("tunnel drained", "\"ada\"");
    }

    @Test
    void disconnectClosesTheSession() {
        enter("operate");

        assertThat(act(PROD + "/disconnect", Map.of("session", "s1")).status()).isEqualTo(303);

        assertThat(server.tunnels.open).isEmpty();
        assertThat(act(PROD + "/disconnect", Map.of("session", "s1")).status()).isEqualTo(404);
    }

    @Test
    void revokeReplacesTheIdentity() {
        enter("admin");
        String before = prod().identity();

        assertThat(act(PROD + "/revoke", Map.of()).status()).isEqualTo(303);

        assertThat(prod().identity()).isNotEqualTo(before);
        assertThat(lastAudit()).contains("runtime revoked");
    }

    @Test
    void deleteLeadsToTheList() {
        enter("admin");

        assertThat(act(PROD + "/delete", Map.of()).field("location")).isEqualTo("/runtimes");

        assertThat(visitor.get("/runtimes").text()).contains("The runtime acme/prod is deleted.");
        assertThat(visitor.get(PROD).status()).isEqualTo(404);
    }

    @Test
    void enrolmentShowsItsCommandOnce() {
        enter("admin");

        Answer answer = act(PROD + "/enrol", Map.of());

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("secret-of-" + prod().id(),
                "culvert client --server wss://t.example:7443 --enrolment-token-file prod.token",
                "topic=enrolled");
        assertThat(answer.field("cache-control")).isEqualTo("no-store");
        assertThat(answer.text()).contains("name=\"back\" value=\"" + PROD + "/enrol\"",
                "data-path=\"" + PROD + "/enrol\"");
        assertThat(visitor.get(PROD + "/enrol").text())
                .contains("id=\"live\"", "Make another token")
                .doesNotContain("secret-of-");
        assertThat(visitor.get(PROD).text()).doesNotContain("secret-of-");
        assertThat(lastAudit()).contains("enrolment token made").doesNotContain("secret-of-");
    }

    @Test
    void runtimeIsCreatedWithItsCommand() {
        enter("admin");

        Answer made = act("/runtimes", Map.of("account", "acme", "name", "test"));
        Answer taken = act("/runtimes", Map.of("account", "acme", "name", "test"));
        Answer wrong = act("/runtimes", Map.of("account", "<b>", "name", "x"));

        assertThat(made.text()).contains("Enrol acme/test", "Waiting for the client",
                "name=\"back\" value=\"/runtimes/acme/test/enrol\"");
        assertThat(taken.status()).isEqualTo(409);
        assertThat(taken.text()).contains("exists already");
        assertThat(wrong.status()).isEqualTo(400);
        assertThat(wrong.text()).doesNotContain("<b>").contains("&lt;b&gt;");
    }

    @Test
    void limitsAreChangedAndReset() {
        enter("operate");

        act(PROD + "/limits", Map.of("maxStreams", "7"));
        assertThat(visitor.get(PROD).text()).contains("The limits are changed", "value=\"7\"");
        act(PROD + "/limits", Map.of());

        assertThat(visitor.get(PROD).text()).doesNotContain("value=\"7\"");
        assertThat(act(PROD + "/limits", Map.of("maxStreams", "many")).text())
                .contains("maxStreams: not a number");
    }

    @Test
    void hostsAreChanged() {
        enter("admin");

        act(PROD + "/hosts", Map.of("hosts", "a.example\n b.example\r\n"));

        assertThat(prod().hosts()).containsExactly("a.example", "b.example");
        assertThat(act(PROD + "/hosts", Map.of("hosts", "b.example <script>\n a.example")).status())
                .isEqualTo(400);
        assertThat(act(PROD + "/hosts", Map.of("hosts", "b.example")).text()).contains("id=\"confirm\"",
                "a.example: its callers get 404", "name=\"sure\" value=\"yes\"");
        assertThat(prod().hosts()).containsExactly("a.example", "b.example");
        act(PROD + "/hosts", Map.of("hosts", "b.example", "sure", "yes"));
        assertThat(prod().hosts()).containsExactly("b.example");
    }

    @Test
    void pageTellsWhetherARequestWouldBeAllowed() {
        server.call("PUT", "/api/v1/runtimes/acme/prod/access",
                "{\"rules\":[{\"path\":\"/\",\"require\":\"deny\"},{\"path\":\"/open/\",\"require\":\"none\",\"addresses\":[\"192.0.2.0/24\"]}]}");
        enter("read");

        assertThat(visitor.get(PROD + "?path=/open/x&address=192.0.2.7").text()).contains("<strong>Allowed");
        assertThat(visitor.get(PROD + "?path=/open/x&address=198.51.100.1").text())
                .contains("<strong>Refused with 403", "from your address");
        assertThat(visitor.get(PROD + "?path=/x").text()).contains("the rule closes the path");
        assertThat(visitor.get(PROD + "?path=/open/..%252fx").text()).contains("Refused with 403");
        assertThat(visitor.get(PROD + "?path=/x&address=host.example").text()).contains("This is no address");
        assertThat(visitor.get(PROD + "?path=x").text()).contains("A path begins with a slash");
    }

    @Test
    void changesOfManyWebhooksAskFirst() {
        String query = "?runtime=acme/prod&source=argo/push";
        enter("operate");

        assertThat(visitor.get("/webhooks/replay" + query).text()).contains("id=\"confirm\"",
                "Replay all dead webhooks of argo/push", "0 webhooks are sent again");
        assertThat(visitor.get("/webhooks/pause" + query).text()).contains("id=\"confirm\"",
                "Pause argo/push of acme/prod?");
        assertThat(visitor.get("/webhooks/wh_1/replay").text()).contains("id=\"confirm\"",
                "Replay this webhook?", "action=\"/webhooks/wh_1/replay\"");
        assertThat(visitor.get("/webhooks/wh_1").status()).isEqualTo(404);
        act("/webhooks/pause", Map.of("runtime", "acme/prod", "source", "argo/push"));
        assertThat(lastAudit()).contains("webhooks paused");
        assertThat(act("/webhooks/replay", Map.of("runtime", "acme/prod", "source", "argo/push"))
                .status()).isEqualTo(303);
        assertThat(visitor.get("/webhooks").text()).contains("0 webhooks are replayed.");
    }

    @Test
    void readerIsAskedNoQuestion() {
        enter("read");

        for (String path : new String[]{"/webhooks/replay?state=dead",
                "/webhooks/pause?runtime=acme/prod&source=a", PROD + "/enrol", PROD + "/drain"}) {
            assertThat(visitor.get(path).status()).as(path).isEqualTo(403);
        }
    }

    @Test
    void changesAreListedInTheAuditLog() {
        enter("operate");
        act(PROD + "/drain", Map.of());

        assertThat(visitor.get("/audit").text()).contains("tunnel drained", "ada", "s1");
        assertThat(visitor.get("/audit?next=1").text()).contains("Nothing was changed yet");
        assertThat(visitor.get("/audit?next=x").status()).isEqualTo(200);
    }
}
