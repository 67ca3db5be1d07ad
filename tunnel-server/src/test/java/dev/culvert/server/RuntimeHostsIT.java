package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.store.StoreLimits;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Custom hosts, after a runtime was made. */
class RuntimeHostsIT {
    private static final String PROD = "/api/v1/runtimes/acme/prod";

    @TempDir
    Path folder;
    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        create("prod", "\"a.example\",\"b.example\"");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void hostsAreReplacedAndSurviveARestart() {
        Answer changed = change("\"B.example\",\"c.example\"");

        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().path("hosts").toString()).isEqualTo("[\"b.example\",\"c.example\"]");
        for (int opened = 0; opened < 2; opened++) {
            assertThat(server.store.byHost("a.example")).isNull();
            assertThat(server.store.byHost("b.example")).isNotNull()
                    .isEqualTo(server.store.byHost("c.example:443"))
                    .isEqualTo(server.store.byHost("acme-prod.t.example"))
                    .isEqualTo(server.store.byName(new RuntimeName("acme", "prod")));
            server.close();
            server = new AdminServer(folder);
        }
    }

    @Test
    void aHostThatIsGivenUpIsFreeForAnother() {
        assertThat(change("").status()).isEqualTo(200);

        create("dev", "\"a.example\"");

        assertThat(change("\"a.example\"").status()).isEqualTo(409);
    }

    @Test
    void aTakenHostIsAConflictAndChangesNothing() {
        create("dev", "\"dev.example\"");

        assertThat(change("\"new.example\",\"dev.example\"").status()).isEqualTo(409);
        assertThat(change("\"acme-dev.t.example\"").status()).isEqualTo(409);
        assertThat(change("\"t.example\"").status()).isEqualTo(409);

        assertThat(server.store.byHost("new.example")).isNull();
        assertThat(server.call("GET", PROD, null).json().path("hosts").toString())
                .isEqualTo("[\"a.example\",\"b.example\"]");
    }

    @Test
    void moreHostsThanTheLimitAreRefused() {
        String many = IntStream.rangeClosed(0, StoreLimits.defaults().maxHosts())
                .mapToObj(i -> "\"h" + i + ".example\"")
                .collect(Collectors.joining(","));

        assertThat(change(many).status()).isEqualTo(400);
    }

    @Test
    void aChangeMustNameItsHostsAndItsRuntime() {
        assertThat(server.call("PATCH", PROD, "{}").status()).isEqualTo(400);
        assertThat(server.call("PATCH", PROD, "{\"hosts\":[\"not a host\"]}").status()).isEqualTo(400);
        assertThat(server.call("PATCH", "/api/v1/runtimes/acme/none", "{\"hosts\":[]}").status())
                .isEqualTo(404);
    }

    private Answer change(String hosts) {
        return server.call("PATCH", PROD, "{\"hosts\":[" + hosts + "]}");
    }

    private void create(String name, String hosts) {
        assertThat(server.call("POST", "/api/v1/runtimes",
                "{\"account\":\"acme\",\"name\":\"" + name + "\",\"hosts\":[" + hosts + "]}").status())
                .isEqualTo(201);
    }
}
