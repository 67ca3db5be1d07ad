package dev.culvert.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.EventLoops;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DemoSystemIT {
    private static final Duration WAIT = Duration.ofMinutes(3);
    private static DemoSystem system = create();

    private static DemoSystem create() {
        return DemoSystem.create(DemoPorts.free()).blockOptional(WAIT).orElseThrow();
    }

    @BeforeAll
    static void start() {
        system = system.start().blockOptional(WAIT).orElseThrow();
    }

    @AfterAll
    static void stopLeavesNothing() {
        system.stop(Duration.ZERO).block(WAIT);

        assertThat(system.folder()).doesNotExist();
    }

    @Test
    void everyCheckPasses() {
        List<DemoCheck.Result> results = system.check().collectList().blockOptional(WAIT).orElseThrow();

        assertThat(results).extracting(DemoCheck.Result::line)
                .hasSize(16)
                .allMatch(line -> line.startsWith("ok"));
    }

    @Test
    void checksFailWhenTheRuntimeIsNotThere() {
        var loops = EventLoops.create(1);
        try (var caller = new DemoCaller(system.edge(), system.ca(), loops)) {
            String idle = "demo-idle.culvert.localhost";
            var broken = new TrafficChecks(caller, new DemoEventSource(), idle, system.host(), system.host(),
                    "demo-idle.culvert.localhost");

            List<DemoCheck.Result> results = broken.all()
                    .stream()
                    .map(check -> check.run().blockOptional(WAIT).orElseThrow())
                    .toList();

            assertThat(results).noneMatch(DemoCheck.Result::passed).hasSize(9);
        } finally {
            loops.dispose();
        }
    }

    @Test
    void aWebhookThatNeverArrivesFailsItsCheck() {
        var loops = EventLoops.create(1);
        try (var caller = new DemoCaller(system.edge(), system.ca(), loops)) {
            var otherSource = new TrafficChecks(caller, new DemoEventSource(), system.host(), "-", "-",
                    "-");

            DemoCheck.Result result = otherSource.all()
                    .stream()
                    .filter(check -> check.name().equals("webhook"))
                    .findFirst()
                    .orElseThrow()
                    .run()
                    .blockOptional(WAIT)
                    .orElseThrow();

            assertThat(result.line()).startsWith("FAIL").contains("the event source got nothing");
        } finally {
            loops.dispose();
        }
    }

    @Test
    void theFolderIsItsOwnersAlone() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(system.folder())))
                .isEqualTo("rwx------");
    }

    @Test
    void theLinesToPasteNameHostPortAndAuthority() {
        assertThat(system.pasteLines()).contains("--cacert " + system.ca())
                .contains("--resolve demo-local.culvert.localhost:" + system.edge().port() + ":127.0.0.1")
                .contains("http.curloptResolve=")
                .contains("the page at http://" + system.admin() + " ")
                .contains("culvert webhook list --admin http://" + system.admin() + " --admin-token-file "
                        + system.folder().resolve("admin.token") + "\n")
                .contains("demo.git " + system.folder() + "/clone\n")
                .doesNotContain("%");
    }
}
