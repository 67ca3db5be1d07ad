package dev.culvert.benchmarks.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.benchmarks.target.TargetKind;
import dev.culvert.config.ByteSize;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScenarioTest {
    private static final String VALID = """
            targets: [direct, nginx2, script:frp.sh]
            starts: 2
            warmUp: 4s
            loads:
              - { name: small, kind: get, path: /f, callers: [1, 32], rate: 12000, time: 10s }
              - { name: upload, kind: upload, path: /upload, bytes: 100MiB, callers: 8, http2: true }
              - name: beside
                kind: get
                path: /f
                callers: 8
                beside: [{ kind: stalled, path: /bytes/1000000, callers: 100 }]
            """;

    @TempDir
    Path dir;

    @Test
    void aFileIsReadWithDefaults() throws IOException {
        Scenario scenario = read(VALID, Map.of());

        assertThat(scenario.targets()).containsExactly("direct", "nginx2", "script:" + dir.resolve("frp.sh"));
        assertThat(scenario.baseline()).isEqualTo("nginx2");
        assertThat(scenario.starts()).isEqualTo(2);
        assertThat(scenario.rounds()).isEqualTo(5);
        assertThat(scenario.scheduling()).isEqualTo(Scheduling.NORMAL);
        assertThat(scenario.warmUp()).isEqualTo(Duration.ofSeconds(4));
        assertThat(scenario.loads().getFirst().callerCounts()).containsExactly(1, 32);
        assertThat(scenario.loads().getLast().time()).isEqualTo(Duration.ofSeconds(3));
        assertThat(scenario.loads().getLast().beside()).containsExactly(
                new BesideLoad(Kind.STALLED, "/bytes/1000000", 100, new ByteSize(0)));
    }

    @Test
    void aLoadBecomesThePlanOfATarget() throws IOException {
        var target = new Target("frp", URI.create("http://127.0.0.1:1"), "app.localhost", List.of());
        ScenarioLoad load = read(VALID, Map.of()).loads().get(1);

        LoadPlan plan = load.plan(target, 8, Duration.ZERO, load.time());

        assertThat(plan).isEqualTo(new LoadPlan(URI.create("http://127.0.0.1:1/upload"), "app.localhost",
                Kind.UPLOAD, true, 100 << 20, 8, 0, Duration.ZERO, Duration.ofSeconds(3)));
    }

    @Test
    void optionsOverrideTheFile() throws IOException {
        Scenario scenario = read(VALID,
                Map.of("--targets", "nginx1,culvert", "--baseline", "nginx1", "--starts", "1", "--rounds",
                        "7", "--batch", "true"));

        assertThat(scenario.targets()).containsExactly("nginx1", "culvert");
        assertThat(scenario.baseline()).isEqualTo("nginx1");
        assertThat(scenario.starts()).isEqualTo(1);
        assertThat(scenario.rounds()).isEqualTo(7);
        assertThat(scenario.scheduling()).isEqualTo(Scheduling.BATCH);
    }

    @Test
    void allMistakesAreToldWithLineAndKey() throws IOException {
        BenchException wrong = catchThrowableOfType(BenchException.class, () -> read("""
                starts: many
                round: 3
                loads:
                  - { name: Small, kind: got, path: /f, callers: [1] }
                  - { name: big, kind: get, path: f, callers: [0] }
                """, Map.of()));

        assertThat(wrong.exitCode()).isEqualTo(78);
        assertThat(String.valueOf(wrong.getMessage()).lines()).hasSize(4)
                .anyMatch(line -> line.endsWith(
                        "scenario.yaml:1: starts: \"many\" (expected: 1..100)"))
                .anyMatch(line -> line.endsWith("scenario.yaml:2: round: unknown key (nearest: rounds)"))
                .anyMatch(
                        line -> line.endsWith("scenario.yaml:4: loads[0].kind: \"got\" (expected: one of get,"
                                + " upload, webhook, websocket, events, stalled)"))
                .anyMatch(line -> line
                        .endsWith("scenario.yaml:5: loads[1].path: \"f\" (expected: a path as /f)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"targets: [direct, nginx3]", "targets: [direct, nginx2, direct]",
            "targets: [direct]", "starts: 0", "rounds: 1001", "warmUp: 2h", "baseline: ''"})
    void valuesOutOfRangeAreRefused(String line) {
        refused(line + "\nloads: [{ name: small, kind: get, path: /f, callers: [1] }]", "expected: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"callers: [1001]", "callers: [1, x]", "callers: []", "rate: -1", "time: 10ms",
            "bytes: 1", "path: '/a b'", "kind: webhook", "kind: events, rate: 1",
            "kind: websocket, bytes: 1, http2: true", "kind: upload, bytes: 2GiB", "kind: stalled"})
    void loadsThatMakeNoSenseAreRefused(String changed) {
        String defaults = List.of("name: small", "kind: get", "path: /f", "callers: [1]")
                .stream()
                .filter(part -> !changed.contains(part.substring(0, part.indexOf(':') + 1)))
                .reduce("", (before, part) -> before + part + ", ");

        refused("loads: [{ " + defaults + changed + " }]", "expected");
    }

    @ParameterizedTest
    @ValueSource(strings = {"kind: get, path: f, callers: 1", "kind: get, path: /f, callers: 0",
            "kind: upload, path: /f, callers: 1", "kind: get, path: /f, callers: 1, bytes: 1"})
    void burdensThatMakeNoSenseAreRefused(String beside) {
        refused("""
                loads:
                  - { name: small, kind: get, path: /f, callers: 1, beside: [{ %s }] }
                """.formatted(beside), "loads[0].beside[0].");
    }

    @Test
    void aScenarioNeedsLoadsWithDifferentNames() {
        refused("starts: 1", "loads: missing (expected: a list of loads");
        refused("""
                loads:
                  - { name: small, kind: get, path: /f, callers: [1] }
                  - { name: small, kind: get, path: /f, callers: [2] }
                """, "loads[1].name: \"small\" (expected: a name that no other load has)");
    }

    @Test
    void missingTargetsAreSkippedUnlessTheyAreListed() throws IOException {
        Scenario open = read("loads: [{ name: small, kind: get, path: /f, callers: [1] }]", Map.of());
        Scenario listed = read(VALID, Map.of("--targets", "nginx2,haproxy2"));

        assertThat(open.choose(program -> program.equals("nginx")).kinds()).extracting(TargetKind::name)
                .containsExactly("direct", "nginx1", "nginx2", "culvert", "culvert-ingress");
        assertThatThrownBy(() -> listed.choose(program -> program.equals("nginx")))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("haproxy2 needs haproxy");
        assertThatThrownBy(() -> open.choose(program -> false)).isInstanceOf(BenchException.class)
                .hasMessageContaining("baseline nginx2 is not among the targets");
    }

    @Test
    void theFilesOfTheRepositoryAreValid() throws IOException {
        try (var files = Files.list(repository().resolve("benchmarks/scenarios"))) {
            assertThat(files.toList()).hasSizeGreaterThanOrEqualTo(4)
                    .allSatisfy(file -> assertThat(Scenario.read(file, Map.of()).loads()).isNotEmpty());
        }
    }

    /** Tests run in the module's folder or in the repository's. */
    private static Path repository() {
        Path here = Path.of("").toAbsolutePath();
        return Files.isDirectory(here.resolve("benchmarks")) ? here : here.resolve("..");
    }

    private void refused(String yaml, String message) {
        assertThatThrownBy(() -> read(yaml, Map.of())).as(yaml)
                .isInstanceOf(BenchException.class)
                .hasMessageContaining(message);
    }

    private Scenario read(String yaml, Map<String, String> flags) throws IOException {
        return Scenario.read(Files.writeString(dir.resolve("scenario.yaml"), yaml), flags);
    }
}
