package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.process.Scheduling;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingIT {
    /** Tests run in the module's folder or in the one above it. */
    private static final Path DIST = Files.exists(Path.of("target/dist"))
            ? Path.of("target/dist")
            : Path.of("benchmarks/target/dist");

    @TempDir
    private Path caches;

    @Test
    void eachPartGetsACacheThatTheJvmTakes() throws Exception {
        var launch = new Launch(Launch.of(DIST).classPath(), caches, false);
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            new Training(bed, launch, Duration.ofMillis(100), line -> {}).run();
        }

        List<String> strict = new ArrayList<>(CulvertPrograms.SHORT);
        strict.add("-XX:AOTMode=on"); // the JVM ends if it cannot use the cache
        assertThat(Program.run(launch.command(strict, "--version"))).startsWith("culvert ");
        try (var made = Files.list(caches)) {
            assertThat(made.map(Path::getFileName).map(Path::toString)).containsExactlyInAnyOrder("cli.aot",
                    "client.aot", "router.aot", "server.aot");
        }
    }
}
