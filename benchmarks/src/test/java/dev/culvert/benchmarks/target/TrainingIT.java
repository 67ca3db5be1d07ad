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
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

class TrainingIT {
    /** Tests run in the module's folder or in the one above it. */
    private static final Path DIST = Files.exists(Path.of("target/dist"))
            ? Path.of("target/dist")
            : Path.of("benchmarks/target/dist");

    @TempDir
    private Path caches;

    @Test
    void theJvmTakesACacheThatACommandMade() throws Exception {
        Program.run(Launch.training(DIST, caches).command(CulvertPrograms.SHORT, "--version"));

        requireCache("cli.aot");
    }

    /** Takes a minute: run it with {@code -Dculvert.train=true} after a change of what is trained. */
    @Test
    @EnabledIfSystemProperty(named = "culvert.train", matches = "true")
    void eachPartGetsACache() throws Exception {
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            new Training(bed, DIST, caches, Duration.ofMillis(100), line -> {}).run();
        }

        requireCache("cli.aot");
        try (var made = Files.list(caches)) {
            assertThat(made.map(Path::getFileName).map(Path::toString)).containsExactlyInAnyOrder("cli.aot",
                    "client.aot", "router.aot", "server.aot");
        }
    }

    /** The JVM ends if it is told to use a cache and cannot. */
    private void requireCache(String name) {
        List<String> strict = new ArrayList<>(CulvertPrograms.SHORT);
        strict.addAll(List.of("-XX:AOTCache=" + caches.resolve(name), "-XX:AOTMode=on"));

        assertThat(Program.run(new Launch(Launch.of(DIST).classPath(), command -> strict).command(List.of(),
                "--version"))).startsWith("culvert ");
    }
}
