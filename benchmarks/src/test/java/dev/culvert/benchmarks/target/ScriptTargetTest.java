package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Scheduling;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScriptTargetTest {
    private static final Upstream UPSTREAM = new Upstream(URI.create("http://127.0.0.1:4711"), 1);

    @TempDir
    Path dir;

    @Test
    void startGetsUpstreamFolderAndPortsAndStopEndsIt() throws IOException {
        TargetKind kind = script("""
                echo "$@" >>"$0.calls"
                set -- $BENCH_PORTS
                [ "$#" = 8 ] || exit 1
                echo url=http://127.0.0.1:20001/
                echo host=app.localhost
                echo pids=$PPID
                """);
        Target target;
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            target = kind.start(bed, UPSTREAM);
        }

        assertThat(target).isEqualTo(new Target("proxy", URI.create("http://127.0.0.1:20001/"),
                "app.localhost", List.of(ProcessHandle.current().pid())));
        assertThat(target.url("/f")).isEqualTo(URI.create("http://127.0.0.1:20001/f"));
        List<String> calls = Files.readAllLines(dir.resolve("proxy.sh.calls"));
        assertThat(calls).hasSize(2);
        String folder = calls.getLast().substring("stop ".length());
        assertThat(calls.getFirst()).isEqualTo("start http://127.0.0.1:4711 " + folder);
        assertThat(Path.of(folder)).doesNotExist();
    }

    @Test
    void aMissingProgramIsUnavailable() throws IOException {
        TargetKind kind = script("echo frps is not on the PATH >&2; exit 69");

        assertThatThrownBy(() -> start(kind)).isInstanceOfSatisfying(BenchException.class, missing -> {
            assertThat(missing.exitCode()).isEqualTo(69);
            assertThat(missing).hasMessage("proxy: frps is not on the PATH");
        });
    }

    @Test
    void aFailedStartShowsItsReasonAndIsStopped() throws IOException {
        TargetKind kind = script("""
                echo "$1" >>"$0.calls"
                echo no licence >&2
                exit 3
                """);

        assertThatThrownBy(() -> start(kind)).isInstanceOf(BenchException.class)
                .hasMessageContaining("ended with 3")
                .hasMessageContaining("no licence");
        assertThat(dir.resolve("proxy.sh.calls")).hasContent("start\nstop");
    }

    @Test
    void otherLinesAreRefused() {
        for (String output : List.of("", "url=http://127.0.0.1:1", "pids=1", "url=127.0.0.1:1\npids=1",
                "url=http://127.0.0.1:1\npids=1,2", "url=http://127.0.0.1:1\npids=1\nready")) {
            assertThatThrownBy(() -> ScriptTarget.parse("proxy", output)).as(output)
                    .isInstanceOf(BenchException.class)
                    .hasMessageContaining("expected: the lines url=");
        }
    }

    @Test
    void processesMayBeSeveral() {
        Target target = ScriptTarget.parse("proxy", "pids=1 22  333 \nurl=https://127.0.0.1:1\n");

        assertThat(target.processes()).containsExactly(1L, 22L, 333L);
        assertThat(target.host()).isEmpty();
    }

    private static void start(TargetKind kind) throws IOException {
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            kind.start(bed, UPSTREAM);
        }
    }

    private TargetKind script(String text) throws IOException {
        Path file = Files.writeString(dir.resolve("proxy.sh"), "#!/bin/sh\n" + text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return new ScriptTarget(file);
    }
}
