package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The environment of a measurement, on which its figures depend. */
final class Surroundings {
    private static final String UNKNOWN = "unknown";
    private static final String CONGESTION = "/proc/sys/net/ipv4/tcp_congestion_control";
    private static final String LOAD = "/proc/loadavg";

    private Surroundings() {}

    static String describe() {
        return "%s · %d cores · Linux %s · JDK %s · TCP %s · load average %s · %s".formatted(
                LocalDate.now(ZoneOffset.UTC),
                Runtime.getRuntime().availableProcessors(), System.getProperty("os.version"),
                Runtime.version(),
                read(CONGESTION), read(LOAD).split(" ", 2)[0],
                Program.run(List.of("nginx", "-v")).strip());
    }

    /** The environment by name, for a result file. */
    static Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("processor", processor());
        facts.put("linux", System.getProperty("os.version", UNKNOWN));
        facts.put("jdk", Runtime.version().toString());
        facts.put("tcp", read(CONGESTION));
        facts.put("load average before", read(LOAD).split(" ", 2)[0]);
        return facts;
    }

    /** The load average of the last minute; 0 if it is unknown. */
    static double loadAverage() {
        String text = read(LOAD).split(" ", 2)[0];
        return text.equals(UNKNOWN) ? 0 : Double.parseDouble(text);
    }

    /** The model of the processors; not all architectures tell it. */
    private static String processor() {
        return read("/proc/cpuinfo").lines()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(UNKNOWN);
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
