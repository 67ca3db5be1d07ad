package dev.culvert.launcher.demo;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs git without the user's own configuration. Blocks, so it must run on bounded-elastic threads. */
final class Git {
    /** A clone of the demo's repository takes well under a second. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Path home;
    private final List<String> options;

    /**
     * @param home an existing folder, also for output files
     * @param options {@code -c} options for every run
     */
    Git(Path home, List<String> options) {
        this.home = home;
        this.options = List.copyOf(options);
    }

    /** Whether git is on the path. A container image has none. */
    static boolean isThere() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "git")));
    }

    /**
     * Runs git in a folder and returns its output.
     *
     * @throws DemoException with git's own message if it fails, is missing or hangs
     */
    String run(Path folder, String... arguments) {
        var command = new ArrayList<String>();
        command.add("git");
        command.addAll(options);
        command.addAll(List.of(arguments));
        try {
            return run(new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true),
                    arguments[0]);
        } catch (IOException e) {
            throw new DemoException("git can't be started, and the demo needs it: " + e.getMessage());
        }
    }

    private String run(ProcessBuilder builder, String what) throws IOException {
        isolate(builder.environment());
        Process process = builder.start();
        process.getOutputStream().close();
        var timer = new Thread(() -> endWhenItHangs(process), "git-timeout");
        timer.setDaemon(true);
        timer.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int code = exitCode(process);
        timer.interrupt();
        if (code != 0) {
            throw new DemoException("git " + what + " failed (" + code + "): " + output);
        }
        return output;
    }

    private void isolate(Map<String, String> environment) {
        environment.keySet()
                .removeIf(name -> name.startsWith("GIT_")
                        || name.toLowerCase(Locale.ROOT).endsWith("_proxy"));
        environment.put("HOME", home.toString());
        environment.put("GIT_CONFIG_NOSYSTEM", "1");
        environment.put("GIT_TERMINAL_PROMPT", "0");
        for (String role : List.of("AUTHOR", "COMMITTER")) {
            environment.put("GIT_" + role + "_NAME", "Culvert demo");
            environment.put("GIT_" + role + "_EMAIL", "demo@culvert.localhost");
        }
    }

    private static int exitCode(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted while git ran");
        }
    }

    private static void endWhenItHangs(Process process) {
        try {
            if (!process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // git has ended
        }
    }
}
