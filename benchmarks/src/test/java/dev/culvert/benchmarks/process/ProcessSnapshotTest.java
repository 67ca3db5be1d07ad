package dev.culvert.benchmarks.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.benchmarks.result.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessSnapshotTest {
    private static final long PID = 5861;
    /** Captured from a JVM on Linux 6.18; %d: utime and stime. */
    private static final String STAT = "%d (%s) S 5855 5839 5839 0 -1 4194368 3990 1974661 0 213 %d %d 25071 1747 20 0"
            + " 30 0 3760624 8751210496 175190 18446744073709551615 1 1 0 0 0 0 0 4096 134217727 0 0 0 -1 1 0 0 0 0"
            + " 0 0 0 0 0 0 0 0 0\n";

    @TempDir
    Path proc;

    @Test
    void aThreadsNameMayHoldBlanksAndParentheses() {
        ThreadTimes thread = ThreadTimes.parse(STAT.formatted(42, "C2 Comp(iler) 0", 70, 30), "");

        assertThat(thread).isEqualTo(new ThreadTimes("C2 Comp(iler) 0", 100, 0));
    }

    @Test
    void threadsOfTheJvmAreToldByTheirNames() {
        assertThat(List.of("C1 CompilerThre", "C2 CompilerThre"))
                .allMatch(name -> new ThreadTimes(name, 0, 0).isCompiler());
        assertThat(List.of("GC Thread#0", "G1 Conc#0", "G1 Main Marker", "G1 Service"))
                .allMatch(name -> new ThreadTimes(name, 0, 0).isCollector());
        assertThat(List.of("VM Thread", "culvert-1-1", "nginx", "VM Periodic Tas"))
                .noneMatch(name -> new ThreadTimes(name, 0, 0).isCompiler()
                        || new ThreadTimes(name, 0, 0).isCollector());
    }

    @Test
    void usageIsTheDifferenceByThread() throws IOException {
        process(1000, 10);
        thread(5881, "java", 500, 10);
        thread(5888, "C1 CompilerThre", 117, 5);
        thread(5882, "GC Thread#0", 30, 7);
        ProcessSnapshot before = read();
        process(1300, 10);
        thread(5881, "java", 700, 25);
        thread(5888, "C1 CompilerThre", 127, 6);
        thread(5882, "GC Thread#0", 35, 7);
        thread(5999, "C2 CompilerThre", 40, 3);

        Usage usage = read().since(before);

        assertThat(usage).isEqualTo(new Usage(3_000_000, 500_000, 50_000, (15 + 1 + 3) * 2, 204_800L * 1024));
    }

    @Test
    void aCompilerThreadThatEndedTakesNothingAway() throws IOException {
        process(1000, 10);
        thread(5888, "C1 CompilerThre", 117, 5);
        ProcessSnapshot before = read();
        Files.delete(proc.resolve("5861/task/5888/stat"));
        process(1001, 10);

        assertThat(read().since(before).jitMicros()).isZero();
    }

    @Test
    void aMeasuredProcessThatEndedSpoilsTheRun() throws IOException {
        process(1000, 10);
        ProcessSnapshot before = read();
        Files.delete(proc.resolve("5861/stat"));
        ProcessSnapshot after = read();

        assertThatThrownBy(() -> after.since(before)).isInstanceOf(BenchException.class)
                .hasMessageContaining("5861 has ended");
    }

    @Test
    void thisProcessHasUsedCpuTimeAndMemory() {
        ProcessSnapshot none = ProcessSnapshot.read(proc, List.of(), List.of());

        Usage mine = ProcessSnapshot.of(List.of(ProcessHandle.current().pid())).since(none);

        assertThat(mine.cpuMicros()).isPositive().isGreaterThanOrEqualTo(mine.jitMicros());
        assertThat(mine.contextSwitches()).isPositive();
        assertThat(mine.rssBytes()).isGreaterThan(1 << 20);
    }

    private ProcessSnapshot read() {
        return ProcessSnapshot.read(proc, List.of(PID), List.of(PID));
    }

    private void process(long user, long system) throws IOException {
        write(proc.resolve(Long.toString(PID)), PID, "java", user, system, 0);
        Files.createDirectories(proc.resolve(PID + "/task"));
    }

    private void thread(long id, String name, long ticks, long switches) throws IOException {
        write(proc.resolve(PID + "/task/" + id), id, name, ticks, 0, switches);
    }

    private static void write(Path folder, long id, String name, long user, long system, long switches)
            throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("stat"), STAT.formatted(id, name, user, system));
        Files.writeString(folder.resolve("status"), """
                Name:	%s
                State:	S (sleeping)
                VmHWM:	  700760 kB
                VmRSS:	  204800 kB
                Threads:	30
                voluntary_ctxt_switches:	%d
                nonvoluntary_ctxt_switches:	%d
                """.formatted(name, switches, switches));
    }
}
