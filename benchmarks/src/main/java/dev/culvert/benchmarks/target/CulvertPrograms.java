package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What commands of Culvert take and print. */
final class CulvertPrograms {
    /** The host of the only runtime; other targets get it as well, so that requests are alike. */
    static final String HOST = "demo-local." + Certificates.DOMAIN;
    static final String READY = "\"event\":\"listening\"";
    static final String CONNECTED = "\"event\":\"connected\"";

    /** The options of a server, as its argument file sets them. */
    static final List<String> SERVER = List.of("-XX:+UseG1GC", "-XX:G1ReservePercent=25",
            "-XX:InitiatingHeapOccupancyPercent=70", "-XX:GCTimeRatio=24", "-Xms64m",
            "-XX:+UseCompactObjectHeaders", "-XX:TrimNativeHeapInterval=10000");
    /** The options of other parts that run on. */
    static final List<String> PART = List.of("-XX:+UseSerialGC", "-Xms16m", "-XX:+UseCompactObjectHeaders",
            "-XX:TrimNativeHeapInterval=10000");
    /** The options of short commands. */
    static final List<String> SHORT = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData");

    private CulvertPrograms() {}

    /** Runs a short command of Culvert to its end and returns what it printed. */
    static String run(String... arguments) {
        return Program.run(Launch.OWN.command(SHORT, arguments));
    }

    static String version() {
        return run("--version").lines().findFirst().orElse("");
    }

    /** The text of a field of a JSON object that has no objects in it. */
    static String field(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]+)\"").matcher(json);
        if (!matcher.find()) {
            throw BenchException.failed("no " + name + " in " + json);
        }
        return Objects.requireNonNull(matcher.group(1));
    }
}
