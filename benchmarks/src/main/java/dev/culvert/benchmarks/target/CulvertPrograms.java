package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Commands of Culvert in JVMs of their own, with the class path of this one. */
final class CulvertPrograms {
    /** The host of the only runtime; other targets get it as well, so that requests are alike. */
    static final String HOST = "demo-local." + Certificates.DOMAIN;
    static final String READY = "\"event\":\"listening\"";
    static final String CONNECTED = "\"event\":\"connected\"";

    /** The options of a server, as the launcher script sets them. */
    static final List<String> SERVER = List.of("-XX:+UseG1GC", "-XX:G1ReservePercent=25", "-Xms32m",
            "-XX:+UseCompactObjectHeaders", "-XX:TrimNativeHeapInterval=10000");
    /** The options of other parts that run on. */
    static final List<String> PART = List.of("-XX:+UseSerialGC", "-Xms16m", "-XX:+UseCompactObjectHeaders",
            "-XX:TrimNativeHeapInterval=10000");
    /** The options of short commands. */
    private static final List<String> SHORT = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final String MAIN = "dev.culvert.launcher.Main";

    private CulvertPrograms() {}

    /**
     * A command of Culvert.
     *
     * @param options the JVM's, as the launcher script sets them for this command
     */
    static List<String> command(List<String> options, String... arguments) {
        List<String> command = java(options, MAIN);
        command.addAll(List.of(arguments));
        return command;
    }

    /**
     * A JVM with a main class of this class path, as the launcher script starts it. The list can be added to.
     */
    static List<String> java(List<String> options, String main) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+ExitOnOutOfMemoryError", "-cp", System.getProperty("java.class.path"), main));
        return command;
    }

    /** Runs a short command of Culvert to its end and returns what it printed. */
    static String run(String... arguments) {
        return Program.run(command(SHORT, arguments));
    }

    static String version() {
        return run("--version").strip();
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
