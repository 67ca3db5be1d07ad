package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits through the admin API. */
class LimitsIT {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final String LIMITS = "/api/v1/runtimes/acme/prod/limits";
    private static final String SERVERS = "/api/v1/limits";

    @TempDir
    Path folder;
    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private RegisteredRuntime prod() {
        return Objects.requireNonNull(server.store.byName(PROD));
    }

    @Test
    void aRuntimesLimitsHoldAtOnceAndSurviveARestart() {
        Answer changed = server.call("PUT", LIMITS, "{\"requestsPerSecond\":50,\"maxBodyBytes\":\"1MiB\"}");

        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().path("own").toString()).isEqualTo(
                "{\"maxStreams\":null,\"requestsPerSecond\":50,\"requestBurst\":null,\"maxBodyBytes\":1048576,\"bytesPerSecond\":null}");
        assertThat(changed.json().path("inForce").toString()).isEqualTo(
                "{\"maxStreams\":1000,\"requestsPerSecond\":50,\"requestBurst\":50,\"maxBodyBytes\":1048576,\"bytesPerSecond\":0}");
        server.close();
        server = new AdminServer(folder);
        assertThat(server.call("GET", LIMITS, null).json()).isEqualTo(changed.json());
        assertThat(prod().limits()).isEqualTo(new OwnLimits(
                Map.of(RuntimeLimit.REQUESTS_PER_SECOND, 50L, RuntimeLimit.MAX_BODY_BYTES, 1L << 20)));
    }

    @Test
    void anEmptyObjectReturnsToTheServersLimits() {
        server.call("PUT", LIMITS, "{\"maxStreams\":5}");

        assertThat(server.call("PUT", LIMITS, "{}").status()).isEqualTo(200);

        assertThat(prod().limits()).isEqualTo(OwnLimits.NONE);
        assertThat(server.call("GET", LIMITS, null).json().at("/inForce/maxStreams").asInt()).isEqualTo(1000);
    }

    @Test
    void whatIsAnsweredMayBeSentBack() {
        Answer changed = server.call("PUT", LIMITS, "{\"bytesPerSecond\":\"10MiB\"}");

        Answer again = server.call("PUT", LIMITS, changed.json().path("own").toString());

        assertThat(again.json()).isEqualTo(changed.json());
    }

    @Test
    void theServersLimitsHoldForAllAndEndWithIt() {
        Answer changed = server.call("PUT", SERVERS, "{\"maxStreams\":7}");

        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().at("/inForce/maxStreams").asInt()).isEqualTo(7);
        assertThat(server.call("GET", LIMITS, null).json().at("/inForce/maxStreams").asInt()).isEqualTo(7);
        server.close();
        server = new AdminServer(folder);
        assertThat(server.call("GET", SERVERS, null).json().at("/inForce/maxStreams").asInt())
                .isEqualTo(1000);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{\"maxStreams\":0}              | maxStreams: 0 (expected: a whole number, 1..1000000)",
            "{\"maxStreams\":1.5}            | maxStreams: 1.5 (expected",
            "{\"requestsPerSecond\":\"many\"}| requestsPerSecond: many (expected: a whole number",
            "{\"requestsPerSecond\":-1}      | requestsPerSecond: -1",
            "{\"maxBodyBytes\":\"25MB\"}     | maxBodyBytes: 25MB (expected: bytes, or a size as 25MiB",
            "{\"maxBodyBytes\":\"999999999999GiB\"} | maxBodyBytes: 999999999999GiB (expected",
            "{\"bytesPerSecond\":1023}       | bytesPerSecond: 1023",
            "{\"bytesPerSecond\":[1]}        | bytesPerSecond: [1]",
            "{\"maxStream\":1}               | maxStream: unknown field (expected: [bytesPerSecond",
            "[]                              | the body is not a JSON object"})
    void whatIsWrongIs400AndNamesKeyValueAndWhatIsAccepted(String body, String detail) {
        for (String path : new String[]{LIMITS, SERVERS}) {
            Answer refused = server.call("PUT", path, body);

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().path("detail").asText()).startsWith(detail);
        }
        assertThat(prod().limits()).isEqualTo(OwnLimits.NONE);
    }

    @Test
    void anUnknownRuntimeIs404() {
        for (String path : new String[]{"/limits", "/usage"}) {
            assertThat(server.call("GET", "/api/v1/runtimes/acme/none" + path, null).status()).isEqualTo(404);
        }
        assertThat(server.call("PUT", "/api/v1/runtimes/acme/none/limits", "{}").status()).isEqualTo(404);
    }

    @Test
    void lookingNeedsLessThanChanging() {
        String read = "Bearer " + token("looker", "read");
        String operate = "Bearer " + token("operator", "operate");

        assertThat(server.call("GET", LIMITS, null, read).status()).isEqualTo(200);
        assertThat(server.call("GET", SERVERS, null, read).status()).isEqualTo(200);
        assertThat(server.call("PUT", LIMITS, "{}", read).status()).isEqualTo(403);
        assertThat(server.call("PUT", SERVERS, "{}", read).status()).isEqualTo(403);
        assertThat(server.call("PUT", LIMITS, "{}", operate).status()).isEqualTo(200);
        assertThat(server.call("PUT", SERVERS, "{}", operate).status()).isEqualTo(403);
    }

    private String token(String name, String role) {
        return server.call("POST", "/api/v1/admin-tokens",
                "{\"name\":\"" + name + "\",\"role\":\"" + role + "\"}").json().path("token").asText();
    }

    @Test
    void changesAreNoted() {
        server.call("PUT", LIMITS, "{\"maxStreams\":5}");
        server.call("PUT", SERVERS, "{\"requestsPerSecond\":9}");

        assertThat(server.call("GET", "/api/v1/audit", null).response().body())
                .contains(
                        "\"action\":\"runtime limits changed\",\"entity\":\"server\",\"object\":\"acme/prod: maxStreams=5\"")
                .contains(
                        "\"action\":\"server limits changed\",\"entity\":\"server\",\"object\":\"requestsPerSecond=9\"");
    }

    @Test
    void usageBeginsAtNothing() {
        assertThat(server.call("GET", "/api/v1/runtimes/acme/prod/usage", null).response().body()).isEqualTo(
                "{\"requests\":0,\"bytesIn\":0,\"bytesOut\":0,\"refused\":{\"streams\":0,\"rate\":0,\"body\":0,\"memory\":0}}");
    }
}
