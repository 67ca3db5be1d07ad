package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code culvert cache} in an installation: bin, lib, args, cache. Runs after the module was packaged. */
class CacheCommandIT {
    private static final Path DIST = Path.of("target", "dist").toAbsolutePath();
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2000-01-01T00:00:00Z"));

    @TempDir
    Path home;

    @Test
    void theCachesOfAnInstallationAreUsedUntilItsJarsChange() throws Exception {
        install();
        assertThat(run("--version")).contains("no AOT cache");

        String made = run("cache", "--only", "cli,router");

        assertThat(made).contains("cache/cli.aot, ", "cache/router.aot, ");
        try (var files = Files.list(home.resolve("cache"))) {
            assertThat(files.map(file -> home.relativize(file).toString())).containsExactlyInAnyOrder(
                    "cache/cli.aot", "cache/cli.jars", "cache/router.aot", "cache/router.jars");
        }
        assertThat(
                PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("cache/cli.aot"))))
                .isEqualTo("rw-r--r--");
        assertThat(run("--version")).startsWith("culvert ")
                .contains("\nJava 2", ", AOT cache in use: " + home.resolve("cache/cli.aot"));

        replaceAJar();
        assertThat(run("--version")).contains("no AOT cache");

        Files.delete(home.resolve("cache/cli.jars"));
        Files.writeString(home.resolve("cache/cli.aot"), "nonsense");
        assertThat(run("--version")).startsWith("culvert ") // and nothing of the JVM's own before it
                .contains("AOT cache not usable: " + home.resolve("cache/cli.aot"));
    }

    private void install() throws IOException {
        Files.createDirectories(home.resolve("bin"));
        Files.copy(Path.of("..", "culvert"), home.resolve("bin/culvert"));
        home.resolve("bin/culvert").toFile().setExecutable(true);
        Files.createSymbolicLink(home.resolve("args"), DIST.resolve("args"));
        Path lib = Files.createDirectory(home.resolve("lib"));
        try (var jars = Files.newDirectoryStream(DIST.resolve("lib"), "*.jar")) {
            for (Path jar : jars) {
                Files.createSymbolicLink(lib.resolve(jar.getFileName()), jar);
            }
        }
    }

    /** As an upgrade does whose files are older than the cache. The JVM would run the classes of before. */
    private void replaceAJar() throws IOException {
        Path lib = home.resolve("lib");
        try (var jars = Files.newDirectoryStream(lib, "culvert-http-*.jar")) {
            Path jar = jars.iterator().next();
            byte[] content = Files.readAllBytes(jar);
            Files.delete(jar);
            Files.write(jar, new byte[1]); // a jar may begin with something else
            Files.write(jar, content, StandardOpenOption.APPEND);
            Files.setLastModifiedTime(jar, LONG_AGO);
        }
        Files.setLastModifiedTime(lib, LONG_AGO);
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/culvert").toString()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile("culvert-cache", ".log");
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CULVERT_"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
        String text = Files.readString(out, StandardCharsets.UTF_8);
        Files.delete(out);
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }
}
