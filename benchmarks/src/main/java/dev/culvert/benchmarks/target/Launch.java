package dev.culvert.benchmarks.target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How commands of Culvert are started, each in a JVM of its own, with the JDK of this one.
 *
 * @param classPath the JVM's
 * @param caches the folder of the AOT caches (JEP 483): {@code NAME.aot}, where NAME is a part's, or {@code
 *     cli} for all other commands; null: none
 * @param trains whether commands make their caches when they end, instead of using them
 */
public record Launch(String classPath, @Nullable Path caches, boolean trains) {
    /** With the class path of this JVM, and no cache. */
    public static final Launch OWN = new Launch(System.getProperty("java.class.path"), null, false);

    private static final String MAIN = "dev.culvert.launcher.Main";
    /** Commands that run on until they are told to end. */
    private static final List<String> PARTS = List.of("server", "client", "router", "app-proxy");

    /**
     * As the launcher script starts them.
     *
     * @param dist the folder of a build, with the folder {@code lib} of its jars, and the caches that exist
     */
    public static Launch of(Path dist) {
        return new Launch(dist.toAbsolutePath().resolve("lib") + "/*", dist.toAbsolutePath(), false);
    }

    /** The same, to make the caches. */
    public Launch training() {
        return new Launch(classPath, caches, true);
    }

    /**
     * A command of Culvert.
     *
     * @param options the JVM's, as the launcher script sets them for this command
     */
    List<String> command(List<String> options, String... arguments) {
        List<String> all = new ArrayList<>(options);
        all.addAll(cache(arguments[0]));
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
                "-XX:+ExitOnOutOfMemoryError", "-cp", classPath, main));
        return command;
    }

    /** The cache of a command. */
    static String cacheOf(String command) {
        return (PARTS.contains(command) ? command : "cli") + ".aot";
    }

    private List<String> cache(String command) {
        if (caches == null) {
            return List.of();
        }
        Path cache = caches.resolve(cacheOf(command));
        if (trains) {
            return List.of("-XX:AOTCacheOutput=" + cache);
        }
        return Files.exists(cache) ? List.of("-XX:AOTCache=" + cache) : List.of();
    }
}
