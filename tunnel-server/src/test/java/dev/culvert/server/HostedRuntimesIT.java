package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.Pem;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.server.AdminServer.Answer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.test.StepVerifier;

/** Runtimes with an upstream, through the admin API. */
class HostedRuntimesIT {
    private static final String RUNTIMES = "/api/v1/runtimes";
    private static final String HOSTED = RUNTIMES + "/acme/hosted";

    @TempDir
    Path folder;
    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Answer create(String upstream) {
        return server.call("POST", RUNTIMES,
                "{\"account\":\"acme\",\"name\":\"hosted\",\"upstream\":" + upstream + "}");
    }

    @Test
    void aHostedRuntimeIsShownWithItsUpstreamAndHasNoToken() {
        Answer made = create("\"http://127.0.0.1:3000\"");

        assertThat(made.status()).isEqualTo(201);
        assertThat(made.response().body()).isEqualTo(
                "{\"account\":\"acme\",\"name\":\"hosted\",\"host\":\"acme-hosted.t.example\",\"hosts\":[],\"upstream\":\"http://127.0.0.1:3000\"}");
        String shown = "{\"account\":\"acme\",\"name\":\"hosted\",\"host\":\"acme-hosted.t.example\",\"hosts\":[],"
                + "\"upstream\":\"http://127.0.0.1:3000\",\"state\":\"hosted\",\"tunnels\":[],\"waiting\":[]}";
        assertThat(server.call("GET", HOSTED, null).response().body()).isEqualTo(shown);
        assertThat(server.call("GET", RUNTIMES, null).json().path("items").toString())
                .isEqualTo("[" + shown + "]");
        for (String call : new String[]{"/enrolment-tokens", "/revoke"}) {
            Answer refused = server.call("POST", HOSTED + call, "");
            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.json().path("detail").asText()).isEqualTo(
                    "the runtime acme/hosted is hosted: its requests go to its upstream, and it has no tunnel, tokens or certificates");
        }
        assertThat(server.call("GET", "/api/v1/audit", null).response().body())
                .contains("\"object\":\"acme/hosted: upstream http://127.0.0.1:3000\"");
    }

    @Test
    void anUpstreamIsReplacedButATunnelIsNot() {
        String ca = Pem.text(CertificateAuthority.create("Upstreams", Clock.systemUTC()).certificate())
                .replace("\n", "\\n");
        create("\"https://a.example\",\"ca\":\"" + ca + "\"");
        server.call("POST", RUNTIMES, "{\"account\":\"acme\",\"name\":\"prod\"}");

        Answer changed = server.call("PATCH", HOSTED, "{\"upstream\":\"h2c://b.example:81\"}");

        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().path("upstream").asText()).isEqualTo("h2c://b.example:81");
        server.close();
        server = new AdminServer(folder);
        assertThat(server.call("GET", HOSTED, null).json().path("upstream").asText())
                .isEqualTo("h2c://b.example:81");
        assertThat(server.call("PATCH", HOSTED, "{\"hosts\":[\"h.example\"]}").json().path("hosts").size())
                .isEqualTo(1);
        assertThat(server.call("PATCH", HOSTED, "{\"hosts\":[],\"upstream\":\"http://c.example\"}").status())
                .isEqualTo(400);
        assertThat(server.call("PATCH", RUNTIMES + "/acme/prod", "{\"upstream\":\"http://b.example\"}")
                .status()).isEqualTo(409);
        assertThat(server.call("PATCH", RUNTIMES + "/acme/none", "{\"upstream\":\"http://b.example\"}")
                .status()).isEqualTo(404);
    }

    /** With an upstream or without: {@code DirectHostsIT} has a server with a platform's host. */
    @Test
    void aServerDoesNotStartWhoseRuntimeHasThePlatformsHost() throws Exception {
        server.call("POST", RUNTIMES,
                "{\"account\":\"acme\",\"name\":\"prod\",\"hosts\":[\"platform.example\"]}");
        server.close();
        var day = Duration.ofDays(1);
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("t.example"), List.of(), day)
                .writeTo(folder.resolve("e.crt"), folder.resolve("e.key"));
        var tls = new ServerConfig.Tls(folder.resolve("e.crt"), folder.resolve("e.key"));
        var platform = new ServerConfig.Platform("platform.example", URI.create("http://127.0.0.1:1"), null,
                null, ServerConfig.PlatformLimits.defaults());
        HostPort any = HostPort.parse("127.0.0.1:0");
        var edge = new ServerConfig.Edge(any, "t.example", tls, List.of(), false, CallerLimits.defaults(),
                List.of(), false, false, true);
        var tunnel = new ServerConfig.Tunnel(any, tls, false, false, List.of(), false,
                new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), day), false);
        var config = new ServerConfig(edge.with(platform), tunnel,
                new ServerConfig.Admin(any, folder.resolve("admin.token")), folder.resolve("data"),
                new ServerConfig.Store(Duration.ofSeconds(10)));

        StepVerifier.create(TunnelServer.start(config))
                .expectErrorSatisfies(refused -> assertThat(refused).isInstanceOf(ConfigException.class)
                        .hasMessage(
                                "edge.platform.host: expected a host that no runtime has; acme/prod has this one"))
                .verify(Duration.ofMinutes(1));
        Path rules = Files.writeString(folder.resolve("rules.json"), "{\"rules\":[{}]}");
        var wrongRules = new ServerConfig.Platform("other.example", platform.to(), null, rules,
                platform.limits());
        StepVerifier
                .create(TunnelServer.start(new ServerConfig(edge.with(wrongRules), tunnel, config.admin(),
                        config.dataDir(), config.store())))
                .expectErrorSatisfies(refused -> assertThat(refused).isInstanceOf(ConfigException.class)
                        .hasMessageContaining("edge.platform.access")
                        .hasMessageContaining("rules[0].path"))
                .verify(Duration.ofMinutes(1));
        server = new AdminServer(folder); // what was open is closed
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "\"ftp://a.example\"                       | upstream: \"ftp://a.example\" (expected: http://",
            "\"http://a.example/path\"                 | upstream: \"http://a.example/path\" (expected",
            "\"http://user@a.example\"                 | upstream: \"http://user@a.example\" (expected",
            "\"http://a.example?q\"                    | upstream: \"http://a.example?q\" (expected",
            "\"http://a b\"                            | upstream: \"http://a b\" (expected",
            "\"a.example:80\"                          | upstream: \"a.example:80\" (expected",
            "\"http://a.example:70000\"                | upstream: \"http://a.example:70000\" (expected",
            "\"\"                                      | upstream: \"\" (expected",
            "\"http://a.example\",\"ca\":\"x\"         | ca: given for http://a.example (expected",
            "\"https://a.example\",\"ca\":\"x\"        | ca: ",
            "null,\"ca\":\"x\"                         | ca: given without upstream",
            "80                                        | upstream: not a string"})
    void whatIsWrongIs400AndNamesIt(String upstream, String detail) {
        Answer refused = create(upstream);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().path("detail").asText()).startsWith(detail);
        assertThat(server.call("GET", HOSTED, null).status()).isEqualTo(404);
    }
}
