package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.launcher.run.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of a control plane's keys. */
class ControlPlaneKeysIT {
    @TempDir
    Path folder;

    private String config = "";
    private String operator = "";

    @BeforeEach
    void configure() throws Exception {
        config = folder.resolve("control-plane.yaml").toString();
        Files.writeString(Path.of(config), """
                listen: 127.0.0.1:0
                dataDir: %s
                """.formatted(folder.resolve("data")));
        operator = folder.resolve("data/admin.key").toString();
    }

    @Test
    void aTokenKeyIsRotatedByCommand() throws Exception {
        try (Launched plane = Launched.start(folder, "control-plane", "--config", config)) {
            String url = "http://" + plane.event("listening").path("listen").asText();

            Captured rotated = Captured.run("control-plane", "rotate-token-key", "--control-plane", url,
                    "--api-key-file", operator);
            assertThat(rotated.exitCode()).as(rotated.err()).isZero();
            assertThat(rotated.out()).contains("signs from", "wrapped by");

            Path file = folder.resolve("data/token.key");
            List<String> before = Files.readAllLines(file);
            Captured rewrapped = Captured.run("control-plane", "rotate-token-key", "--control-plane", url,
                    "--api-key-file", operator, "--new-wrapping-key");
            assertThat(rewrapped.exitCode()).as(rewrapped.err()).isZero();
            assertThat(Files.readAllLines(file)).hasSize(2).endsWith(before.getFirst());

            Path wrong = Files.writeString(folder.resolve("wrong.key"), "nobody\n");
            Captured refused = Captured.run("control-plane", "rotate-token-key", "--control-plane", url,
                    "--api-key-file", wrong.toString());
            assertThat(refused.exitCode()).isEqualTo(ExitCode.CONFIG);
        }
        Captured away = Captured.run("control-plane", "rotate-token-key", "--control-plane",
                "http://127.0.0.1:1", "--api-key-file", operator);
        assertThat(away.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(away.err()).contains("can't be reached", "--control-plane");
    }

    @Test
    void anOperatorComesBackByCommand() throws Exception {
        Path file = folder.resolve("operator.key");
        Captured early = recover(file);
        assertThat(early.exitCode()).isEqualTo(ExitCode.CONFIG);
        assertThat(early.err()).contains("dataDir", "has run");
        try (Launched plane = Launched.start(folder, "control-plane", "--config", config)) {
            plane.event("listening");
            Captured beside = recover(file);
            assertThat(beside.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
            assertThat(beside.err()).contains("held by another process");
            assertThat(file).doesNotExist();
        }

        Captured done = recover(file);

        assertThat(done.exitCode()).as(done.err()).isZero();
        assertThat(done.out()).contains("admin@localhost", "has a new API key", file.toString(),
                "other valid keys of operators: 1");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertThat(Files.readString(folder.resolve("data/audit-changes.log"))).contains("RECOVER");
        assertThat(recover(file).exitCode()).isNotZero();
        try (Launched plane = Launched.start(folder, "control-plane", "--config", config)) {
            String url = "http://" + plane.event("listening").path("listen").asText();
            assertThat(Captured.run("control-plane", "rotate-token-key", "--control-plane", url,
                    "--api-key-file", file.toString()).exitCode()).isZero();
        }
    }

    private Captured recover(Path to) {
        return Captured.run("control-plane", "recover", "--config", config, "--to", to.toString());
    }
}
