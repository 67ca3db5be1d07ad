package dev.culvert.launcher.cache;

import dev.culvert.config.Reason;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code culvert cache}. Writes each cache whole: a part that starts meanwhile has the old one or the new one.
 */
@Command(name = "cache", footer = {"", "Examples:", "  culvert cache", "  culvert cache --only cli,client"})
public final class CacheCommand implements Task.Brief {
    /**
     * The names and sizes of the jars that a cache was made from. Java 25.0.3 does not notice that jars have
     * changed (JDK-8377932), so the launcher script compares them. Their order and the last line depend on
     * the locale.
     */
    private static final String JARS = "cd \"$1\" && LC_ALL=C && export LC_ALL && wc -c ./*.jar";

    @Option(names = "--only", split = ",", paramLabel = "PART", description = "cli (the short commands), client, router, app-proxy, control-plane or server; may be repeated. Default: all but server, whose steady state is dearer with a cache.")
    private List<String> only = List.of();

    @Option(names = "--to", paramLabel = "DIR", description = "Where the caches go. Default: the folder cache of the installation, where they are used from.")
    private @Nullable Path to;

    @Override
    public int run() {
        Installation installation = Installation.running();
        List<String> parts = only.isEmpty() ? Training.USUAL : only.stream().distinct().toList();
        for (String part : parts) {
            if (!Training.ALL.contains(part)) {
                throw new CommandException(ExitCode.USAGE,
                        "--only: " + part + " (expected: " + String.join(", ", Training.ALL) + ")");
            }
        }
        Path folder = to == null ? installation.home().resolve("cache") : to;
        try (ExecutorService threads = Executors
                .newFixedThreadPool(Math.min(parts.size(), Runtime.getRuntime().availableProcessors()));
                WorkFolder work = WorkFolder.in(folder, threads)) {
            System.err.println("culvert: making the AOT caches of " + String.join(", ", parts)
                    + "; it takes up to a minute for each two, and starts each part several times");
            List<Future<String>> made = new ArrayList<>();
            for (String part : parts) {
                Callable<String> making = () -> make(installation, part, work.path(), folder);
                made.add(threads.submit(making));
            }
            print(made);
            if (only.isEmpty()) {
                System.err.println("culvert: no cache of server: its steady state is dearer with one; "
                        + "culvert cache --only server makes it all the same");
            }
            return ExitCode.DONE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(ExitCode.FAILED, "interrupted");
        }
    }

    /** Prints the line of each cache. After a failure the others are made all the same. */
    private static void print(List<Future<String>> made) throws InterruptedException {
        var failures = new ArrayList<CommandException>();
        for (Future<String> each : made) {
            try {
                System.out.println(each.get());
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof CommandException told)) {
                    throw new IllegalStateException(e.getCause());
                }
                failures.add(told);
            }
        }
        if (!failures.isEmpty()) {
            throw new CommandException(failures.getFirst().exitCode(),
                    failures.stream().map(Throwable::getMessage).collect(Collectors.joining("; ")));
        }
    }

    /** Makes one cache. Returns the line that says so. */
    private static String make(Installation installation, String part, Path work, Path folder)
            throws InterruptedException {
        long began = System.nanoTime();
        try {
            Path own = Files.createDirectory(work.resolve(part));
            Path made = own.resolve(part + ".aot");
            String jars = jars(installation);
            new Training(installation, own).run(part, made);
            Path cache = folder.resolve(made.getFileName());
            publish(made, cache);
            publish(Files.writeString(own.resolve(part + ".jars"), jars), folder.resolve(part + ".jars"));
            long millis = (System.nanoTime() - began) / 1_000_000;
            return cache + ", " + (Files.size(cache) >> 20) + " MiB, in " + millis / 1000 + "."
                    + millis % 1000 / 100
                    + " s";
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, "no cache of " + part + " was made: " + Reason.of(e));
        } catch (CommandException e) {
            throw new CommandException(e.exitCode(), "no cache of " + part + " was made: " + e.getMessage());
        }
    }

    private static void publish(Path made, Path target) throws IOException {
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(made, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String jars(Installation installation) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", JARS, "sh",
                installation.home().resolve("lib").toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String jars = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("the jars of " + installation.home() + " can't be read");
        }
        return jars;
    }
}
