package dev.culvert.e2e.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attacks a server, and judges what another tenant notices. In short, at the findings' rates, for whether anything failed;
 * with {@code -Dculvert.hostile=full} at ten times those rates, for how long it took, too; with
 * {@code -Dculvert.hostile=random} every attack again and again in a small server. CONTRIBUTING.md says how to start it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileIT {
    private static final String FORM = System.getProperty("culvert.hostile", "short");
    private final AtomicInteger runs = new AtomicInteger();
    private Path folder;
    private @Nullable HostileRun run;

    @BeforeAll
    void prepare(@TempDir Path empty) {
        folder = empty;
    }

    /** The one before, unless an attack has harmed it. */
    private HostileRun unharmed() throws Exception {
        HostileRun present = run;
        if (present == null) {
            present = HostileRun.start(FORM,
                    Files.createDirectory(folder.resolve("run" + runs.incrementAndGet())));
            run = present;
        }
        return present;
    }

    @AfterAll
    void stop() {
        if (run != null) {
            run.close();
            run = null;
        }
    }

    @TestFactory
    Stream<DynamicTest> anAttackHarmsNoOtherTenant() {
        List<Scenario> chosen = chosen();
        return FORM.equals("random")
                ? Stream.of(DynamicTest.dynamicTest("all in random order", () -> unharmed().random(chosen)))
                : chosen.stream().map(scenario -> DynamicTest.dynamicTest(scenario.toString(), () -> {
                    List<String> faults = unharmed().attack(scenario);
                    if (!faults.isEmpty()) {
                        stop();
                    }

                    assertThat(faults).isEmpty();
                }));
    }

    /** All, or those that {@code -Dculvert.hostile.only=D1,P2} names. */
    private static List<Scenario> chosen() {
        String only = System.getProperty("culvert.hostile.only", "");
        return Scenarios.ALL.stream()
                .filter(scenario -> only.isEmpty()
                        || Arrays.asList(only.split(",")).contains(scenario.name()))
                .toList();
    }
}
