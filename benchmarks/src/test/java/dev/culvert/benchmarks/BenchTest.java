package dev.culvert.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

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
        assertThatThrownBy(() -> WrkResult.parse("unable to connect")).isInstanceOf(BenchException.class);
    }

    @Test
    void aThreadsNameMayHoldBlanksAndParentheses() {
        String stat = "42 (C2 Comp(iler) 0) S 1 42 42 0 -1 4194368 1 0 0 0 70 30 0 0 20 0 9 0 1 2 3";

        assertThat(Cpu.ticks(stat)).isEqualTo(100);
        assertThat(Cpu.isCompiler(stat)).isTrue();
        assertThat(Cpu.isCompiler("7 (culvert-1-1) S 1")).isFalse();
    }

    @Test
    void thisProcessHasUsedCpuTime() {
        Cpu mine = Cpu.of(List.of(ProcessHandle.current().pid()));

        assertThat(mine.totalMicros()).isPositive().isGreaterThanOrEqualTo(mine.jitMicros());
    }

    @Test
    void wrongUsageEndsWith64AndNamesTheCommandAsItIsTyped() {
        for (String[] args : new String[][]{{}, {"nonsense"}, {"compare", "--nonsense"},
                {"compare", "--rounds", "x"}, {"compare", "--rounds", "0"},
                {"compare", "--connections", "1,-1"}}) {
            var err = new StringWriter();

            int code = Benchmarks.commandLine().setErr(new PrintWriter(err, true)).execute(args);

            assertThat(code).as(err.toString()).isEqualTo(64);
            assertThat(err.toString()).startsWith("culvert bench: ").contains("Try 'culvert bench");
        }
    }

    @Test
    void everyCommandShowsAnExample() {
        CommandLine bench = Benchmarks.commandLine();
        CommandLine compare = Objects.requireNonNull(bench.getSubcommands().get("compare"));

        assertThat(bench.getUsageMessage()).startsWith("Usage: culvert bench [")
                .containsPattern("Example:\\R  culvert bench compare ");
        assertThat(compare.getUsageMessage()).startsWith("Usage: culvert bench compare [")
                .containsPattern("Example:\\R  culvert bench compare ");
    }

    @Test
    void theTableShowsMediansAndRatiosToTheNginxHops() {
        WrkResult load = new WrkResult(1000, 100, 1, 4);
        Measurement slow = Measurement.of(load, new Cpu(80_000, 0));
        Measurement fast = Measurement.of(load, new Cpu(50_000, 10_000));

        String table = CompareTable.of(32,
                Map.of("nginx, two hops", List.of(slow, slow), "Culvert", List.of(fast, fast, slow)));

        assertThat(table).contains("| c=32 |").contains("50.0 (0.63)").contains("40.0 (0.50)");
    }
}
