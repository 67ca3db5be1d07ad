package dev.culvert.e2e.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attacks a server, and judges what another tenant notices. In short, at the findings' rates, for whether anything failed;
 * with {@code -Dculvert.hostile=full} at ten times those rates, for how long it took, too; with
 * {@code -Dculvert.hostile=random} every attack again and again in a small server. CONTRIBUTING.md says how to start it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class HostileIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String FORM = System.getProperty("culvert.hostile", "short");
    private final AtomicInteger runs = new AtomicInteger();
    private Path folder;
    private @Nullable HostileRun run;
    private final Map<String, Serving> clients = new ConcurrentHashMap<>();
    private @Nullable ServerMisdeeds servers;

    /** What a client does about a server, and what it should. */
    private record Serving(CompletableFuture<String> did, String expected) {}

    @BeforeAll
    void prepare(@TempDir Path empty) {
        folder = empty;
        var misdeeds = new ServerMisdeeds(empty);
        servers = misdeeds;
        misdeeds.all().forEach((name, one) -> {
            var did = new CompletableFuture<String>();
            clients.put(name, new Serving(did, one.expected()));
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    did.complete(misdeeds.run(name, one));
                } catch (Exception | AssertionError e) {
                    did.completeExceptionally(e);
                }
            });
        });
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
    void stopServers() {
        if (servers != null) {
            servers.close();
        }
    }

    @AfterAll
    void stop() {
        if (run != null) {
            run.close();
            run = null;
        }
    }

    @TestFactory
    @Order(1)
    Stream<DynamicTest> anAttackHarmsNoOtherTenant() {
        List<Scenario> chosen = chosen();
        return FORM.equals("random")
                ? Stream.of(DynamicTest.dynamicTest("all in random order", () -> unharmed().random(chosen)))
                : Form.of(FORM)
                        .waves(chosen)
                        .stream()
                        .map(wave -> DynamicTest.dynamicTest(Form.names(wave), () -> {
                            List<String> faults = unharmed().attack(wave);
                            if (!faults.isEmpty()) {
                                stop();
                            }

                            assertThat(faults).isEmpty();
                        }));
    }

    /** Begun before all attacks and judged behind them: most of it is waiting for a client's patience, or for its next dial. */
    @TestFactory
    @Order(2)
    Stream<DynamicTest> aServerHarmsNoClient() {
        return new TreeMap<>(clients).entrySet()
                .stream()
                .map(one -> DynamicTest.dynamicTest(one.getKey(),
                        () -> assertThat(one.getValue().did()).succeedsWithin(PATIENCE)
                                .isEqualTo(one.getValue().expected())));
    }

    /** All, or those that {@code -Dculvert.hostile.only=D1,P2} names, by code or name. */
    private static List<Scenario> chosen() {
        String only = System.getProperty("culvert.hostile.only", "");
        return only.isEmpty() ? Scenarios.ALL : Scenarios.of(Arrays.asList(only.split(",")));
    }
}
