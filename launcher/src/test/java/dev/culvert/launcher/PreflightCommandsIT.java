package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.launcher.run.ExitCode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code doctor} and {@code client status} beside real parts. */
class PreflightCommandsIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    @TempDir
    private Path folder;

    @BeforeEach
    void writeCertificatesAndConfiguration() throws Exception {
        Launched.writeServer(folder);
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void aServerIsExaminedBeforeAndAClientAskedWhileItRuns() throws Exception {
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml")) {
            JsonNode ready = server.event("listening");
            String tunnel = "wss://" + ready.path("tunnel").asText();
            Captured created = Captured.run("runtime", "create", "acme", "prod", "--token-file",
                    file("token"),
                    "--admin", "http://" + ready.path("admin").asText(), "--admin-token-file",
                    file("admin.token"));
            assertThat(created.exitCode()).as(created.err()).isZero();

            Captured well = Captured.run("doctor", "--server", tunnel, "--server-ca", file("ca.crt"),
                    "--idle", "1s",
                    "--identity-dir", file("identity"), "--output", "json");
            Captured untrusted = Captured.run("doctor", "--server", tunnel, "--idle", "0s", "--identity-dir",
                    file("identity"));

            assertThat(well.exitCode()).as(well.out() + well.err()).isZero();
            assertThat(JSON.readTree(well.out()).path("checks").findValuesAsText("check"))
                    .containsExactly("proxy", "dns", "connect", "tls", "websocket", "clock", "idle");
            assertThat(JSON.readTree(well.out()).path("checks").findValuesAsText("result"))
                    .containsOnly("ok");
            assertThat(untrusted.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(untrusted.out()).contains("failed  tls", "to do: ", "serverCa");
            assertThat(folder.resolve("identity")).doesNotExist();

            status(tunnel);
        }
    }

    private void status(String tunnel) throws Exception {
        try (Launched client = Launched.start(folder, "client", "--server", tunnel, "--server-ca", "ca.crt",
                "--enrolment-token-file", "token", "--identity-dir", "identity", "--to", "http://127.0.0.1:1",
                "--health-listen", "127.0.0.1:0")) {
            String health = "http://" + client.event("listening").path("health").asText();
            client.event("connected");

            Captured told = Captured.run("client", "status", "--health", health);
            Captured json = Captured.run("client", "status", "--health", health, "--output", "json");

            assertThat(told.exitCode()).as(told.out() + told.err()).isZero();
            assertThat(told.out()).contains("connected", "acme/prod", tunnel + "/tunnel/v1");
            JsonNode status = JSON.readTree(json.out());
            assertThat(status.path("state").asText()).isEqualTo("connected");
            assertThat(status.path("host").asText()).isEqualTo("acme-prod.x.test");
            assertThat(status.path("sessions").path(0).path("remote").asText())
                    .isEqualTo(tunnel.substring(6));
            assertThat(status.path("certificateEnds").asText()).isNotEmpty();
            pauseAndResume(health);

            assertThat(Captured.run("probe", health + "/readyz").out()).contains("/readyz 200");
            assertThat(Captured.run("probe", health + "/").exitCode()).isZero();
            assertThat(Captured.run("probe", health + "/none").exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(Captured.run("probe", health + "/none", "--expect", "404").exitCode()).isZero();
        }
    }

    private static void pauseAndResume(String health) {
        Captured paused = Captured.run("client", "pause", "--health", health);
        Captured status = Captured.run("client", "status", "--health", health);

        assertThat(paused.exitCode()).as(paused.out() + paused.err()).isZero();
        assertThat(status.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(status.out()).contains("paused");
        assertThat(Captured.run("client", "resume", "--health", health).exitCode()).isZero();
        Awaitility.await()
                .untilAsserted(() -> assertThat(
                        Captured.run("client", "status", "--health", health).exitCode()).isZero());
    }

    @Test
    void aClientThatIsNotConnectedIsToldFromOneThatIsNotThere() throws Exception {
        String dead;
        try (var reserved = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            dead = "127.0.0.1:" + reserved.getLocalPort();
        }
        assertThat(Captured.run("client", "status", "--health", "http://" + dead).exitCode())
                .isEqualTo(ExitCode.UNAVAILABLE);

        assertThat(Captured.run("probe", "http://" + dead).exitCode()).isEqualTo(ExitCode.UNAVAILABLE);

        Captured doctor = Captured.run("doctor", "--server", "wss://" + dead, "--idle", "0s");
        assertThat(doctor.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(doctor.out()).contains("failed  connect", "refused");
    }

    @Test
    void wrongUsageIsSaid() {
        assertThat(Captured.run("doctor", "--server", "wss://a", "--idle", "soon").exitCode())
                .isEqualTo(ExitCode.USAGE);
        assertThat(Captured.run("doctor", "--server", "http://a").exitCode()).isEqualTo(ExitCode.CONFIG);
        assertThat(Captured.run("doctor", "--to", "http://a").exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(Captured.run("probe", "ftp://a").exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(Captured.run("client", "pause", "--health", "ftp://a").exitCode())
                .isEqualTo(ExitCode.USAGE);
        assertThat(Captured.run("client", "status", "--health", "ftp://a").exitCode())
                .isEqualTo(ExitCode.USAGE);
    }
}
