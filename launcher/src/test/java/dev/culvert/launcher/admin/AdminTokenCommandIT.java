package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.launcher.Captured;
import dev.culvert.launcher.Launched;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Named tokens, custom hosts and the audit log, from the command line to a server process. */
class AdminTokenCommandIT {
    @TempDir
    Path folder;
    private String admin = "";

    @Test
    void aNamedTokenDoesWhatItsRoleCoversAndTheAuditLogNamesIt() throws Exception {
        try (Launched server = server()) {
            admin = "http://" + server.event("listening").path("admin").asText();
            Path operator = folder.resolve("operator.token");
            Captured made = run("admin.token", "admin-token", "create", "night-shift", "--role", "operate",
                    "--token-file", operator.toString());
            assertThat(made.exitCode()).as(made.err()).isZero();
            assertThat(made.out()).contains("night-shift", "operate")
                    .doesNotContain(Files.readString(operator).strip());
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(operator)))
                    .isEqualTo("rw-------");
            assertThat(run("admin.token", "runtime", "create", "acme", "prod").exitCode()).isZero();

            Captured refused = run("operator.token", "runtime", "delete", "acme", "prod");
            Captured takeOver = run("operator.token", "runtime", "enrol-token", "acme", "prod");
            Captured allowed = run("admin.token", "runtime", "enrol-token", "acme", "prod");
            Captured hosts = run("admin.token", "runtime", "hosts", "acme", "prod", "--add",
                    "a.example,b.example");
            Captured fewer = run("admin.token", "runtime", "hosts", "acme", "prod", "--remove", "a.example");
            Captured limited = run("operator.token", "runtime", "limits", "acme", "prod",
                    "--requests-per-second", "50", "--max-body-bytes", "25MiB");
            Captured more = run("operator.token", "runtime", "limits", "acme", "prod", "--max-streams", "5");
            Captured wrong = run("operator.token", "runtime", "limits", "acme", "prod", "--max-streams",
                    "0");
            Captured usual = run("operator.token", "runtime", "limits", "acme", "prod", "--defaults");
            Path rules = Files.writeString(folder.resolve("access.json"),
                    "{\"rules\":[{\"path\":\"/ui/\",\"require\":\"deny\"}]}");
            Captured closed = run("admin.token", "runtime", "access", "acme", "prod", "--file",
                    rules.toString());
            Captured noRole = run("operator.token", "runtime", "access", "acme", "prod", "--none");
            Captured open = run("admin.token", "runtime", "access", "acme", "prod", "--none");
            Captured noJson = run("admin.token", "runtime", "access", "acme", "prod", "--file",
                    Files.writeString(folder.resolve("broken.json"), "{").toString());
            Captured rotated = run("admin.token", "admin-token", "rotate", "night-shift");
            Captured late = run("operator.token", "runtime", "list");
            Captured audit = run("admin.token", "audit", "--limit", "20");

            assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(refused.err()).contains("role admin; night-shift has operate (403)");
            assertThat(takeOver.err()).contains("role admin; night-shift has operate (403)");
            assertThat(allowed.exitCode()).as(allowed.err()).isZero();
            assertThat(hosts.out()).contains("a.example, b.example");
            assertThat(fewer.out()).contains("b.example").doesNotContain("a.example");
            assertThat(closed.out()).as(closed.err())
                    .containsPattern("/ui/ +deny +anywhere")
                    .containsPattern("any other +deny +anywhere");
            assertThat(noRole.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(open.out()).containsPattern("any +open +anywhere");
            assertThat(noJson.exitCode()).isEqualTo(ExitCode.CONFIG);
            assertThat(noJson.err()).contains("broken.json: line 1");
            assertThat(limited.out()).containsPattern("requestsPerSecond +50 +50\n")
                    .containsPattern("maxBodyBytes +26214400 +26214400\n")
                    .containsPattern("maxStreams +1000 +-\n");
            assertThat(more.out()).containsPattern("requestsPerSecond +50 +50\n")
                    .containsPattern("maxStreams +5 +5\n");
            assertThat(wrong.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(wrong.err()).contains("maxStreams: 0 (expected: a whole number, 1..1000000) (400)");
            assertThat(usual.out()).containsPattern("requestsPerSecond +0 +-\n");
            assertThat(rotated.out()).contains("culvert_night-shift.");
            assertThat(late.exitCode()).isEqualTo(ExitCode.CONFIG);
            assertThat(audit.out().lines()).hasSize(12);
            assertThat(audit.out()).containsPattern("admin +enrolment token made +acme/prod")
                    .containsPattern("night-shift +runtime limits changed +acme/prod")
                    .containsPattern("admin +runtime hosts changed +acme/prod");
        }
    }

    private Captured run(String tokenFile, String... arguments) {
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--admin", admin, "--admin-token-file", folder.resolve(tokenFile).toString()));
        return Captured.run(all.toArray(String[]::new));
    }

    private Launched server() throws IOException {
        new CertsFolder(folder).init("x.test");
        Files.writeString(folder.resolve("server.yaml"),
                """
                        edge:   { listen: "127.0.0.1:0", domain: x.test, tls: { certificate: edge.crt, key: edge.key } }
                        tunnel: { listen: "127.0.0.1:0", tls: { certificate: tunnel.crt, key: tunnel.key },
                                  ca: { certificate: ca.crt, key: ca.key } }
                        admin:  { listen: "127.0.0.1:0" }
                        dataDir: data
                        """);
        return Launched.start(folder, "server", "--config", "server.yaml");
    }
}
