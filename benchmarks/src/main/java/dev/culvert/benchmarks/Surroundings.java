package dev.culvert.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;

/** The environment of a measurement, on which its figures depend. */
final class Surroundings {
    private Surroundings() {}

    static String describe() {
        return "%s · %d cores · Linux %s · JDK %s · TCP %s · load average %s · %s".formatted(
                LocalDate.now(java.time.ZoneOffset.UTC),
                Runtime.getRuntime().availableProcessors(), System.getProperty("os.version"),
                Runtime.version(),
                read("/proc/sys/net/ipv4/tcp_congestion_control"), read("/proc/loadavg").split(" ", 2)[0],
                Program.run(java.util.List.of("nginx", "-v")).strip());
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
