package dev.culvert.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.benchmarks.result.BenchResult;
import dev.culvert.benchmarks.result.Samples;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportCommandTest {
    private static final BenchResult RESULT = Samples.result(Samples.cell("nginx2", 1, 1, 1000, 40),
            Samples.cell("culvert", 1, 1, 1500, 30));

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path dir = Path.of("");
    private Path file = dir;

    @BeforeEach
    void writeResult(@TempDir Path temporary) throws IOException {
        dir = temporary;
        file = dir.resolve("a.json");
        RESULT.write(file);
    }

    @Test
    void itPrintsTablesAndWritesThePage() throws IOException {
        Path html = dir.resolve("report.html");

        assertThat(run("report", file.toString(), "--html", html.toString())).isZero();

        assertThat(out.toString()).contains("| culvert | 1500 (1.50) |");
        assertThat(Files.readString(html)).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    }

    @Test
    void anotherBaselineMayBeChosen() {
        assertThat(run("report", file.toString(), "--baseline", "culvert")).isZero();

        assertThat(out.toString()).contains("| nginx2 | 1000 (0.67) |");
    }

    @Test
    void wrongUsageEndsWith64() {
        assertThat(run("report")).isEqualTo(64);
        assertThat(run("report", file.toString(), "--baseline", "nginx3")).isEqualTo(64);
        assertThat(err.toString()).contains("--baseline: nginx3 (expected one of: nginx2, culvert)");
    }

    @Test
    void anUnreadableFileIsNamedWithItsMistake() throws IOException {
        String good = Files.readString(file);
        String histogram = RESULT.cells().getFirst().load().latency().histogram();

        assertFails(dir.resolve("none.json"), " cannot be read: no such file or folder");
        assertFails(dir, " cannot be read: ");
        assertFails(write("wrk says 200"), " is no result file: ");
        assertFails(write(""), " is no result file: ");
        assertFails(write(good.replace("\"version\" : 1", "\"version\" : 2")), ": version 2 (expected: 1)");
        assertFails(write("{\"version\": 1}"), ": taken is missing");
        assertFails(write(good.replace("\"target\" : \"culvert\"", "\"target\" : null")),
                ": cells[1].target is missing");
        for (String damaged : new String[]{"", "!", "AAAA", histogram.substring(0, 40)}) {
            assertFails(write(good.replaceFirst(Pattern.quote(histogram), damaged)),
                    ": cells[0].load.latency.histogram is damaged");
        }
    }

    @Test
    void aPageThatCannotBeWrittenIsNamed() {
        Path html = dir.resolve("none/report.html");

        assertThat(run("report", file.toString(), "--html", html.toString())).isEqualTo(1);
        assertThat(err.toString())
                .contains("culvert bench: " + html + " cannot be written: no such file or folder");
    }

    private Path write(String content) throws IOException {
        return Files.writeString(dir.resolve("bad.json"), content);
    }

    private void assertFails(Path bad, String mistake) {
        err.getBuffer().setLength(0);

        int code = run("report", file.toString(), bad.toString());

        assertThat(err.toString()).startsWith("culvert bench: " + bad + mistake);
        assertThat(code).isEqualTo(1);
    }

    private int run(String... args) {
        return Benchmarks.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }
}
