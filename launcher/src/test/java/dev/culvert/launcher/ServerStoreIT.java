package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server's database between processes. */
class ServerStoreIT {
    @TempDir
    Path folder;

    @BeforeEach
    void writeCertificatesAndConfiguration() throws IOException {
        Launched.writeServer(folder);
    }

    @Test
    void aSecondServerSaysWhoHoldsTheDatabaseAndEndsWith69() throws Exception {
        try (Launched first = server()) {
            first.event("listening");
            Launched second = server("--store-wait-for-lease", "300ms");

            assertThat(second.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
            assertThat(second.err()).contains("culvert.db is held by another process (host ", ", pid ",
                    ", since ", ", until ");
            assertThat(second.err().lines()).hasSize(1);
            assertThat(second.out()).contains("waiting for the database");
        }
    }

    @Test
    void aServerThatWaitsTakesOverFromOneThatDrains() throws Exception {
        try (Launched first = server()) {
            first.event("listening");
            try (Launched second = server("--store-wait-for-lease", "1m")) {
                second.printed("waiting for the database");

                first.terminate();

                second.event("listening");
                assertThat(first.exitCode()).isZero();
                assertThat(second.terminate().exitCode()).isZero();
            }
        }
    }

    @Test
    void aServerStartsAtOnceAfterAKill() throws Exception {
        try (Launched first = server()) {
            first.event("listening");
            first.kill();
        }

        try (Launched second = server("--store-wait-for-lease", "0s")) {
            second.event("listening");
        }
    }

    @Test
    void aBackupOfARunningServerIsRestoredOnceItIsStopped() throws Exception {
        Path backup = folder.resolve("backup.db");
        try (Launched server = server()) {
            String admin = "http://" + server.event("listening").path("admin").asText();
            create(admin, "kept");

            Captured written = Captured.run("server", "backup", "--config", config(), "--to",
                    backup.toString());
            assertThat(written.exitCode()).as(written.err()).isZero();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(backup)))
                    .isEqualTo("rw-------");
            create(admin, "late");
            Captured again = Captured.run("server", "backup", "--config", config(), "--to",
                    backup.toString());
            assertThat(again.exitCode()).isEqualTo(ExitCode.CONFIG);

            Captured refused = Captured.run("server", "restore", "--config", config(), "--from",
                    backup.toString());
            assertThat(refused.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
            assertThat(refused.err()).contains("is held by another process (host ");
            assertThat(server.terminate().exitCode()).isZero();
        }

        Captured restored = Captured.run("server", "restore", "--config", config(), "--from",
                backup.toString());

        assertThat(restored.exitCode()).as(restored.err()).isZero();
        assertThat(restored.out()).contains("restored: 1 runtimes", "before-restore-");
        try (Launched server = server()) {
            String admin = "http://" + server.event("listening").path("admin").asText();
            JsonNode list = new ObjectMapper()
                    .readTree(run(admin, "runtime", "list", "--output", "json"));
            assertThat(list.path("items").findValuesAsText("name")).containsExactly("kept");
        }
    }

    private Launched server(String... flags) throws IOException {
        String[] arguments = new String[flags.length + 3];
        arguments[0] = "server";
        arguments[1] = "--config";
        arguments[2] = "server.yaml";
        System.arraycopy(flags, 0, arguments, 3, flags.length);
        return Launched.start(folder, arguments);
    }

    private String config() {
        return folder.resolve("server.yaml").toString();
    }

    private void create(String admin, String name) {
        run(admin, "runtime", "create", "acme", name);
    }

    private String run(String admin, String... arguments) {
        String[] all = new String[arguments.length + 4];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = "--admin";
        all[arguments.length + 1] = admin;
        all[arguments.length + 2] = "--admin-token-file";
        all[arguments.length + 3] = folder.resolve("admin.token").toString();
        Captured captured = Captured.run(all);
        assertThat(captured.exitCode()).as(captured.err()).isZero();
        return captured.out();
    }
}
