package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a control plane with SQLite loads, in a process of its own, with the other engine on its class path. */
class SqliteAloneIT {
    private static final Duration TIME = Duration.ofMinutes(2);
    private static final List<String> OTHERS = List.of("org.postgresql.", "com.zaxxer.", "org.flywaydb.",
            "dev.culvert.store.postgres.");

    @TempDir
    Path folder;

    @Test
    void noClassOfTheOtherEngineIsLoaded() throws Exception {
        Path log = folder.resolve("classes.log");
        Process process = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-cp",
                System.getProperty("java.class.path"), "--enable-native-access=ALL-UNNAMED", "-verbose:class",
                Served.class.getName(), folder.resolve("data").toString())
                .redirectOutput(log.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();

        assertThat(process.waitFor(TIME.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(process.exitValue()).isZero();
        try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
            List<String> loaded = lines.toList();
            assertThat(loaded).anyMatch(line -> line.contains(" dev.culvert.store.SqliteDatabase "));
            assertThat(loaded).noneMatch(line -> OTHERS.stream().anyMatch(line::contains));
        }
    }

    /** Starts a control plane, calls it and stops it. */
    static final class Served {
        private Served() {}

        public static void main(String[] folder) throws Exception {
            try (var plane = ControlPlaneKit.start(Path.of(folder[0]))) {
                plane.key("{\"runtime\":\"prod\"}");
                plane.call("GET", "/readyz", "", "");
            }
            System.exit(0);
        }
    }
}
