package dev.culvert.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** An archive of this build, unpacked, whose programs are run with an environment that holds no Java. */
final class Installation {
    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final int MINUTES = 5;

    private final Path folder;
    private final Path home;

    private Installation(Path folder, Path home) {
        this.folder = folder;
        this.home = home;
    }

    /** The folder that the archives were made from. */
    static Path staged() throws IOException {
        try (Stream<Path> files = Files.list(TARGET)) {
            return files.filter(file -> Files.isDirectory(file.resolve("lib"))).findFirst().orElseThrow();
        }
    }

    /** The file of this build whose name ends so. */
    static Path built(String end) throws IOException {
        try (Stream<Path> files = Files.list(TARGET)) {
            return files.filter(file -> file.toString().endsWith(end)).findFirst().orElseThrow();
        }
    }

    /** Unpacks the archive that brings its own run-time. */
    static Installation unpack(Path folder) throws IOException, InterruptedException {
        var installation = new Installation(folder, folder.resolve(String.valueOf(staged().getFileName())));
        Ended unpacked = installation.run("tar", "xzf", built("-linux-x64.tar.gz").toString());
        assertThat(unpacked.code()).as(unpacked.text()).isZero();
        return installation;
    }

    Path home() {
        return home;
    }

    /** Runs {@code culvert} to its end. */
    Ended culvert(String... arguments) throws IOException, InterruptedException {
        return run(Stream.concat(Stream.of(home.resolve("bin/culvert").toString()), Stream.of(arguments))
                .toArray(String[]::new));
    }

    /** Starts {@code culvert}; its two outputs go to the file. */
    Process start(Path output, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(home.resolve("bin/culvert").toString()));
        command.addAll(List.of(arguments));
        return builder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    }

    Ended run(String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", ".log");
        Process process = builder(List.of(command)).redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).as("%s ends", List.of(command)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    }

    private ProcessBuilder builder(List<String> command) {
        var builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "HOME", folder.toString()));
        return builder;
    }

    /** The exit code of a process, and what it printed. */
    record Ended(int code, String text) {}
}
