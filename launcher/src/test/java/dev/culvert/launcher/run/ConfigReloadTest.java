package dev.culvert.launcher.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.certs.CertsException;
import dev.culvert.config.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ConfigReloadTest {
    record Sample(@Setting(value = "a number", accepts = "1..9") int number) {}

    private final List<String> taken = new CopyOnWriteArrayList<>();
    private final AtomicInteger read = new AtomicInteger();
    private @Nullable ConfigReload reload;

    @TempDir
    Path folder;

    @AfterEach
    void end() {
        ConfigReload running = reload;
        if (running != null) {
            running.dispose();
        }
    }

    private ConfigReload start(Path file) {
        PartConfig config = new PartConfig(Sample.class);
        ConfigReload started = ConfigReload.start(file, () -> {
            read.incrementAndGet();
            return config.load(file, Map.of(), Map.of());
        }, (binding, origin) -> taken.add(binding.value(Sample.class).number() + " by " + origin),
                Duration.ofMillis(10));
        reload = started;
        return started;
    }

    private static void until(Runnable assertion) {
        await().pollInterval(Duration.ofMillis(5)).untilAsserted(assertion::run);
    }

    @Test
    void changedContentIsTakenAndAMistakeIsNot() throws IOException {
        Path file = Files.writeString(folder.resolve("x.yaml"), "number: 1\n");
        start(file);

        Files.writeString(file, "number: 2\n");
        until(() -> assertThat(taken).containsExactly("2 by x.yaml"));
        int before = read.get();
        Files.writeString(file, "numbr: 3\n");
        until(() -> assertThat(read).hasValueGreaterThan(before));
        Files.writeString(file, "number: 4\n");

        until(() -> assertThat(taken).containsExactly("2 by x.yaml", "4 by x.yaml"));
    }

    /** As Kubernetes does with a ConfigMap: the file is a link through ..data, which is swapped. */
    @Test
    void aSwappedLinkInThePathIsSeen() throws IOException {
        Files.writeString(Files.createDirectory(folder.resolve("..1")).resolve("x.yaml"), "number: 1\n");
        Files.writeString(Files.createDirectory(folder.resolve("..2")).resolve("x.yaml"), "number: 2\n");
        Files.createSymbolicLink(folder.resolve("..data"), Path.of("..1"));
        Files.createSymbolicLink(folder.resolve("x.yaml"), Path.of("..data/x.yaml"));
        start(folder.resolve("x.yaml"));

        Files.createSymbolicLink(folder.resolve("..tmp"), Path.of("..2"));
        Files.move(folder.resolve("..tmp"), folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);

        until(() -> assertThat(taken).containsExactly("2 by x.yaml"));
    }

    @Test
    void aSignalReadsTheFileThoughItIsTheSame() throws Exception {
        Path file = Files.writeString(folder.resolve("x.yaml"), "number: 1\n");
        start(file);

        assertThat(new ProcessBuilder("kill", "-HUP", Long.toString(ProcessHandle.current().pid())).start()
                .waitFor()).isZero();

        until(() -> assertThat(taken).containsExactly("1 by SIGHUP"));
    }

    @Test
    void whatIsNotTakenIsTriedAgainUntilItIsAndToldOnce() throws IOException {
        Path file = Files.writeString(folder.resolve("x.yaml"), "number: 1\n");
        AtomicInteger tries = new AtomicInteger();
        PartConfig config = new PartConfig(Sample.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(ConfigReload.class);
        log.start();
        logger.addAppender(log);
        try {
            reload = ConfigReload.start(file, () -> config.load(file, Map.of(), Map.of()),
                    (binding, origin) -> {
                        if (tries.incrementAndGet() < 4) {
                            throw new CertsException("ca.crt: is not there");
                        }
                        taken.add(binding.value(Sample.class).number() + " by " + origin);
                    }, Duration.ofMillis(2));

            Files.writeString(file, "number: 2\n");

            until(() -> assertThat(taken).containsExactly("2 by x.yaml"));
        } finally {
            logger.detachAppender(log);
        }
        assertThat(tries).hasValue(4);
        assertThat(List.copyOf(log.list).stream().filter(line -> line.getLevel() == Level.ERROR))
                .singleElement()
                .satisfies(line -> {
                    assertThat(line.getKeyValuePairs().toString()).contains("ca.crt: is not there");
                    assertThat(line.getThrowableProxy()).isNull();
                });
    }

    @Test
    void aFileThatIsGoneForAMomentChangesNothing() throws IOException {
        Path file = Files.writeString(folder.resolve("x.yaml"), "number: 1\n");
        start(file);

        Files.delete(file);
        Files.writeString(file, "number: 5\n");

        until(() -> assertThat(taken).containsExactly("5 by x.yaml"));
    }
}
