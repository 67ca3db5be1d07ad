package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.PemFiles;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertsInspectCommandTest {
    private static final ClientIdentity ACME = new ClientIdentity("acme", "prod", "r4nd0m");
    @TempDir
    Path folder;

    @BeforeEach
    void init() {
        assertThat(Captured.run("certs", "init", "--dir", folder.toString(), "--domain", "x.test").exitCode())
                .isZero();
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    private static Captured inspect(String... more) {
        List<String> all = new ArrayList<>(List.of("certs", "inspect"));
        all.addAll(List.of(more));
        return Captured.run(all.toArray(String[]::new));
    }

    /** Of a client, issued that long ago for a day. */
    private void writeClient(Duration ago) {
        CertificateAuthority ca = CertificateAuthority.load(folder.resolve("ca.crt"),
                folder.resolve("ca.key"),
                Clock.offset(Clock.systemUTC(), ago.negated()));
        X509Certificate client = ca.issueClient(CertificateRequest.create(KeyPairs.generate()), ACME,
                Duration.ofDays(1));
        PemFiles.writeCertificates(folder.resolve("client.crt"), List.of(client));
    }

    @Test
    void aListenersChainIsShownWithItsKey() {
        Captured captured = inspect(file("edge.crt"), "--key", file("edge.key"));

        assertThat(captured.exitCode()).as(captured.err()).isZero();
        assertThat(captured.out()).contains(file("edge.crt") + ", certificate 1 of 2", "CN=x.test",
                "x.test, *.x.test", "CN=Culvert CA for x.test", "valid, ends in 396 days", "EC P-256",
                "servers",
                "edge.key: is its key", "certificate 2 of 2", "certificate authority")
                .doesNotContain("PRIVATE");
    }

    @Test
    void aKeyOfAnotherPairIsACheckThatFailed() {
        Captured captured = inspect(file("edge.crt"), "--key", file("tunnel.key"));

        assertThat(captured.exitCode()).isEqualTo(1);
        assertThat(captured.out()).contains("tunnel.key: is not its key");
    }

    @Test
    void theAuthoritysKeyIsNotTheOneOfAChainThatEndsWithIt() {
        assertThat(inspect(file("edge.crt"), "--key", file("ca.key")).exitCode()).isEqualTo(1);
        assertThat(inspect(file("ca.crt"), "--key", file("ca.key")).exitCode()).isZero();
    }

    @Test
    void theKeyOfOneOfSeveralAuthoritiesIsTheirs() {
        Captured.run("certs", "renew", "--dir", folder.toString(), "--authority", "begin");

        assertThat(inspect(file("ca.crt"), "--key", file("next-ca.key")).exitCode()).isZero();
        assertThat(inspect(file("ca.crt"), "--key", file("edge.key")).exitCode()).isEqualTo(1);
    }

    @Test
    void aClientsCertificateNamesItsRuntime() throws IOException {
        writeClient(Duration.ZERO);

        Captured table = inspect(file("client.crt"));
        JsonNode json = new ObjectMapper()
                .readTree(inspect(file("client.crt"), file("tunnel.crt"), "--output", "json").out())
                .path("certificates");

        assertThat(table.exitCode()).isZero();
        assertThat(table.out()).contains("the client of acme/prod, identity r4nd0m", "ends in 23 hours");
        assertThat(json).hasSize(3);
        JsonNode client = json.path(0);
        assertThat(client.path("file").asText()).isEqualTo(file("client.crt"));
        assertThat(client.path("identity").toString())
                .isEqualTo("{\"account\":\"acme\",\"runtime\":\"prod\",\"id\":\"r4nd0m\"}");
        assertThat(client.path("client").asBoolean()).isTrue();
        assertThat(client.path("state").asText()).isEqualTo("valid");
        assertThat(client.path("secondsLeft").asLong()).isBetween(86_300L, 86_400L);
        assertThat(client.path("keyMatches").isNull()).isTrue();
        assertThat(client.path("sha256").asText()).matches("([0-9A-F]{2}:){31}[0-9A-F]{2}");
        assertThat(json.path(1).path("server").asBoolean()).isTrue();
        assertThat(json.path(1).path("identity").isNull()).isTrue();
        assertThat(json.path(1).path("names").toString())
                .isEqualTo("[\"x.test\",\"localhost\",\"127.0.0.1\"]");
        assertThat(json.path(2).path("authority").asBoolean()).isTrue();
    }

    @Test
    void whatIsNotValidNowIsACheckThatFailed() {
        writeClient(Duration.ofDays(4));
        Captured expired = inspect(file("edge.crt"), file("client.crt"));
        writeClient(Duration.ofDays(-3));
        Captured early = inspect(file("client.crt"));

        assertThat(expired.exitCode()).isEqualTo(1);
        assertThat(expired.out()).contains("EXPIRED 3 days ago", "valid, ends in 396 days");
        assertThat(early.exitCode()).isEqualTo(1);
        assertThat(early.out()).contains("NOT VALID YET, begins in 2 days");
    }

    @Test
    void namesThatWouldSteerATerminalDoNot() {
        CertificateAuthority.create("evil\u001b[2J", Clock.systemUTC())
                .writeTo(folder.resolve("evil.crt"), folder.resolve("evil.key"));

        assertThat(inspect(file("evil.crt")).out()).contains("CN=evil").doesNotContain("\u001b");
    }

    @Test
    void whatCanNotBeReadIsSaid() throws IOException {
        Files.writeString(folder.resolve("text"), "hello");

        for (String file : List.of("text", "none", "ca.key")) {
            Captured captured = inspect(file("edge.crt"), file(file));
            assertThat(captured.exitCode()).isEqualTo(78);
            assertThat(captured.err()).startsWith("culvert: " + file(file) + ": ")
                    .doesNotContain("\tat ", "PRIVATE");
        }
        assertThat(inspect(file("edge.crt"), "--key", file("ca.crt")).exitCode()).isEqualTo(78);
        assertThat(inspect().exitCode()).isEqualTo(64);
    }
}
