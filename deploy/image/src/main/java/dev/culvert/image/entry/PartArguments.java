package dev.culvert.image.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The command line of a part's JVM, as the script {@code culvert} makes it from the same argument files.
 *
 * @param batch whether the part asks for the scheduling policy SCHED_BATCH
 */
record PartArguments(List<String> command, boolean batch) {
    private static final Set<String> PARTS = Set.of("server", "demo", "client", "router", "app-proxy",
            "control-plane");
    private static final Set<String> BRIEF = Set.of("client status", "client pause", "client resume",
            "router routes", "router explain");

    /**
     * A third of a container's limit. The JVM gives direct memory as much as the heap, and takes about 110
     * MiB apart from both: so a limit of 400 MiB or more is never reached.
     */
    private static final String HEAP = "-XX:MaxRAMPercentage=33";
    /** Below this limit of a container, in bytes, the arguments of {@code small.args} follow. */
    private static final long SMALL = 256L << 20;
    /** The smallest limit that a client or router works with; for other parts it is {@link #SMALL}. */
    private static final long LEAST = 128L << 20;

    PartArguments {
        command = List.copyOf(command);
    }

    /**
     * Reads the argument file of the part that the arguments name.
     *
     * @param memory the container's limit in bytes, or the machine's memory
     */
    static PartArguments of(Path home, List<String> arguments, Map<String, String> environment, long memory)
            throws IOException {
        String part = part(arguments);
        String chosen = environment.getOrDefault("CULVERT_JAVA_OPTS", "");
        List<String> options = List.of(chosen.strip().split("\\s+"));
        boolean collector = options.stream().anyMatch(option -> option.matches("-XX:\\+Use\\w*GC"));
        boolean heap = chosen.contains("-Xm") || chosen.contains("HeapSize=");
        var command = new ArrayList<String>();
        command.add(home.resolve("runtime/bin/java").toString());
        boolean batch = false;
        for (String line : Files.readAllLines(home.resolve("args").resolve(part + ".args"))) {
            batch |= line.equals("# scheduling: batch");
            boolean dropped = line.startsWith("#")
                    || collector && (line.matches("-XX:.Use\\w*GC") || line.startsWith("-XX:G1"))
                    || heap && line.startsWith("-Xms");
            if (!dropped) {
                command.add(line);
            }
        }
        if (!heap && !chosen.contains("MaxRAM")) {
            if (memory < SMALL && PARTS.contains(part)) {
                Files.readAllLines(home.resolve("args/small.args"))
                        .stream()
                        .filter(line -> !line.startsWith("#"))
                        .forEach(command::add);
            } else {
                command.add(HEAP);
            }
        }
        command.add("-Dculvert.home=" + home);
        Path natives = home.resolve("lib/native");
        if (Files.isDirectory(natives)) {
            command.add("-Djava.library.path=" + natives);
            command.add("-Dorg.sqlite.lib.path=" + natives);
        }
        options.stream().filter(option -> !option.isEmpty()).forEach(command::add);
        command.add("-cp");
        String own = environment.getOrDefault("CULVERT_CLASS_PATH", "");
        command.add(home.resolve("lib") + "/*"
                + (part.equals("demo") ? ":" + home.resolve("lib/demo") + "/*" : "")
                + (own.isEmpty() ? "" : ":" + own));
        command.add("dev.culvert.launcher.Main");
        command.addAll(arguments);
        return new PartArguments(command, batch && !"other".equals(environment.get("CULVERT_SCHEDULING")));
    }

    /** What the operator has to know of a container that is too small; empty if it is not. */
    static String warning(List<String> arguments, long memory) {
        String part = part(arguments);
        long least = part.equals("client") || part.equals("router") ? LEAST : SMALL;
        return part.equals("cli") || memory >= least
                ? ""
                : "culvert: WARN the container's memory limit is " + (memory >> 20)
                        + " MiB; the smallest that " + part + " works with is " + (least >> 20) + " MiB";
    }

    private static String part(List<String> arguments) {
        String word = arguments.isEmpty() ? "" : arguments.getFirst();
        String next = arguments.size() > 1 ? arguments.get(1) : "";
        boolean brief = BRIEF.contains(word + " " + next)
                || Set.of("backup", "restore", "migrate").contains(next);
        return PARTS.contains(word) && !brief ? word : "cli";
    }
}
