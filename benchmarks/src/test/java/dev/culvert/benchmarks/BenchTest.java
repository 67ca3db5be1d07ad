package dev.culvert.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.result.Usage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class BenchTest {
    private static final String WRK = """
            Running 10s test @ https://127.0.0.1:8443/f
              1 threads and 32 connections
              Thread Stats   Avg      Stdev     Max   +/- Stdev
                Latency     1.21ms  402.11us   9.14ms   78.21%
                Req/Sec    26.50k     1.02k   28.10k    71.00%
              Latency Distribution
                 50%  980.00us
                 75%    1.40ms
                 90%    1.71ms
                 99%    2.51ms
              263710 requests in 10.00s, 110.20MB read
            Requests/sec:  26370.11
            Transfer/sec:     11.02MB
            """;

    @Test
    void wrkIsReadWithItsUnits() {
        assertThat(WrkResult.parse(WRK)).isEqualTo(new WrkResult(263710, 26370.11, 0.98, 2.51));
    }

    @Test
    void aRunWithErrorsDoesNotCount() {
        assertThatThrownBy(() -> WrkResult.parse(WRK + "  Non-2xx or 3xx responses: 3\n"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("Non-2xx or 3xx responses: 3");
        assertThatThrownBy(() -> WrkResult.parse(WRK.replace("263710 requests in", "0 requests in")))
                .isInstanceOf(BenchException.class)
                .hasMessageStartingWith("wrk got no answer");
        assertThatThrownBy(() -> WrkResult.parse("unable to connect")).isInstanceOf(BenchException.class);
    }

    @Test
    void wrongUsageEndsWith64AndNamesTheCommandAsItIsTyped() {
        for (String[] args : new String[][]{{}, {"nonsense"}, {"compare", "--nonsense"},
                {"compare", "--rounds", "x"}, {"compare", "--rounds", "0"},
                {"compare", "--connections", "1,-1"}, {"compare", "--starts", "2"},
                {"compare", "--scenario", "none.yaml", "--warm-up", "1"},
                {"compare", "--scenario", "none.yaml", "--rounds", "0"},
                {"weight", "--runtimes", "0"}, {"weight", "--idle", "soon"}, {"weight", "--dist", "none"},
                {"budget", "--callers", "0"}, {"budget", "--time", "soon"}, {"train"},
                {"train", "--dist", "none"}}) {
            var err = new StringWriter();

            int code = Benchmarks.commandLine().setErr(new PrintWriter(err, true)).execute(args);

            assertThat(code).as(err.toString()).isEqualTo(64);
            assertThat(err.toString()).startsWith("culvert bench: ").contains("Try 'culvert bench");
        }
    }

    @Test
    void aMissingScenarioEndsWith78() {
        var err = new StringWriter();

        int code = Benchmarks.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute("compare", "--scenario", "none.yaml");

        assertThat(code).isEqualTo(78);
        assertThat(err.toString()).startsWith("culvert bench: none.yaml: no such file");
    }

    @Test
    void aFailureOfAFileNamesItWithoutAStackTrace() {
        var err = new StringWriter();

        int code = Benchmarks.commandLine()
                .addSubcommand("fail", new FailingCommand())
                .setErr(new PrintWriter(err, true))
                .execute("fail");

        assertThat(code).isEqualTo(69);
        assertThat(err.toString().strip()).isEqualTo("culvert bench: admin.token: no such file or folder");
    }

    @Command(name = "fail")
    static final class FailingCommand implements Callable<Integer> {
        @Override
        public Integer call() throws IOException {
            throw new NoSuchFileException("admin.token");
        }
    }

    @Test
    void everyCommandShowsAnExample() {
        CommandLine bench = Benchmarks.commandLine();
        CommandLine compare = Objects.requireNonNull(bench.getSubcommands().get("compare"));

        assertThat(bench.getUsageMessage()).startsWith("Usage: culvert bench [")
                .containsPattern("Example:\\R  culvert bench compare ");
        assertThat(compare.getUsageMessage()).startsWith("Usage: culvert bench compare [")
                .containsPattern("Examples?:\\R  culvert bench compare ");
        assertThat(Objects.requireNonNull(bench.getSubcommands().get("load")).getUsageMessage())
                .contains("--host demo-local.culvert.localhost --callers 32\n");
    }

    @Test
    void theTableShowsMediansAndRatiosToTheNginxHops() {
        WrkResult load = new WrkResult(1000, 100, 1, 4);
        Measurement slow = Measurement.of(load, new Usage(80_000, 0, 0, 0, 0));
        Measurement fast = Measurement.of(load, new Usage(50_000, 10_000, 0, 0, 0));

        String table = CompareTable.of(32,
                Map.of("nginx, two hops", List.of(slow, slow), "Culvert", List.of(fast, fast, slow)));

        assertThat(table).contains("| c=32 |").contains("50.0 (0.63)").contains("40.0 (0.50)");
    }
}
