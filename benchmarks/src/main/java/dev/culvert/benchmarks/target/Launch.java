package dev.culvert.benchmarks.target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * How commands of Culvert are started, each in a JVM of its own, with the JDK of this one.
 *
 * @param classPath the JVM's
 * @param more further options of the JVM, by the command's name
 */
public record Launch(String classPath, Function<String, List<String>> more) {
    /** Nothing of the JVM comes on standard output. */
    private static final List<String> QUIET = List.of("-XX:+DisplayVMOutputToStderr", "-Xlog:disable",
            "-Xlog:all=warning:stderr", "-Xlog:aot*=off:stderr");

    /** With the class path of this JVM, and no further options. */
    public static final Launch OWN = new Launch(System.getProperty("java.class.path"), command -> List.of());

    private static final String MAIN = "dev.culvert.launcher.Main";
    /** Commands that run on until they are told to end. */
    private static final List<String> PARTS = List.of("server", "client", "router", "app-proxy");

    /**
     * As the launcher script starts them, with the AOT caches that exist.
     *
     * @param dist the folder of a build, with the folder {@code lib} of its jars
     */
    public static Launch of(Path dist) {
        return new Launch(jars(dist), command -> {
            Path cache = cache(dist.resolve("cache"), command);
            return Files.exists(cache) ? List.of("-XX:AOTCache=" + cache) : List.of();
        });
    }

    /**
     * So that each command makes its AOT cache when it ends.
     *
     * @param caches the folder that they are written to
     */
    static Launch training(Path dist, Path caches) {
        return new Launch(jars(dist), command -> List.of("-XX:AOTCacheOutput=" + cache(caches, command)));
    }

    /** The AOT cache of a command: each part has its own, and all other commands have one together. */
    static Path cache(Path folder, String command) {
        return folder.toAbsolutePath().resolve((PARTS.contains(command) ? command : "cli") + ".aot");
    }

    private static String jars(Path dist) {
        return dist.toAbsolutePath().resolve("lib") + "/*";
    }

    /**
     * A command of Culvert.
     *
     * @param options the JVM's, as the launcher script sets them for this command
     */
    List<String> command(List<String> options, String... arguments) {
        List<String> all = new ArrayList<>(options);
        all.addAll(more.apply(arguments[0]));
        List<String> command = java(all, MAIN);
        command.addAll(List.of(arguments));
        return command;
    }

    /** A JVM with a main class, as the launcher script starts it. The list can be added to. */
    List<String> java(List<String> options, String main) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(QUIET);
        command.addAll(List.of("-cp", classPath, main));
        return command;
    }
}
