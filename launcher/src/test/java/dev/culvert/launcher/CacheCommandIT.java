package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
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
        List<String> before = printed();

        String made = run("cache", "--only", "cli,router");

        assertThat(made).contains("cache/cli.aot, ", "cache/router.aot, ");
        try (var files = Files.list(home.resolve("cache"))) {
            assertThat(files.map(file -> home.relativize(file).toString())).containsExactlyInAnyOrder(
                    "cache/cli.aot", "cache/cli.jars", "cache/router.aot", "cache/router.jars");
        }
        assertThat(permissions("cache/cli.aot")).isEqualTo("rw-r--r--");
        assertThat(permissions("cache")).isEqualTo("rwxr-xr-x");
        assertThat(run("--version")).startsWith("culvert ")
                .contains("\nJava 2", ", AOT cache in use: " + home.resolve("cache/cli.aot"));

        assertThat(printed()).as("nothing of the JVM comes on standard output").isEqualTo(before);

        replaceAJar();
        assertThat(run("--version")).contains("no AOT cache");

        Files.delete(home.resolve("cache/cli.jars"));
        Files.writeString(home.resolve("cache/cli.aot"), "nonsense");
        assertThat(run("--version")).startsWith("culvert ") // and nothing of the JVM's own before it
                .contains("AOT cache not usable: " + home.resolve("cache/cli.aot"));
    }

    @Test
    void pathsMayHaveOtherLettersInEveryLocale() throws Exception {
        install();
        var builder = new ProcessBuilder("sh", "-c",
                """
                        folder=$(printf 't\\303\\244st') && mkdir "$folder" && echo 'listen: 127.0.0.1:0' >"$folder/router.yaml" &&
                        exec bin/culvert router --config "$folder/router.yaml" --check-config
                        """)
                .directory(home.toFile())
                .redirectErrorStream(true);
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("CULVERT_") || name.startsWith("LC_"));
        builder.environment().putAll(Map.of("LANG", "C", "JAVA_HOME", System.getProperty("java.home")));

        Process process = builder.start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .startsWith("listen: 127.0.0.1:0");
        assertThat(process.waitFor()).isZero();
    }

    /** Whether it is asked to end or is killed: neither a server of it goes on, nor is its folder kept for long. */
    @Test
    void anInterruptedOneLeavesNothingBehind() throws Exception {
        install();
        Path cache = home.resolve("cache");
        Process asked = start("cache", "--only", "client");
        List<ProcessHandle> children = children(asked);

        asked.destroy();

        assertThat(asked.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(asked.exitValue()).isEqualTo(143);
        assertEnd(children);
        assertThat(cache).isEmptyDirectory();

        Process killed = start("cache", "--only", "client");
        children = children(killed);
        killed.destroyForcibly();
        assertEnd(children);
        assertThat(cache).isNotEmptyDirectory();

        run("cache", "--only", "cli");
        try (var files = Files.list(cache)) {
            assertThat(files.map(file -> home.relativize(file).toString()))
                    .containsExactlyInAnyOrder("cache/cli.aot", "cache/cli.jars");
        }
    }

    /** A process to begin with, and later a server: the newest ones, once there was a configuration for it. */
    private List<ProcessHandle> children(Process parent) {
        return Awaitility.await("a server of the training")
                .atMost(Duration.ofMinutes(2))
                .until(() -> parent.toHandle()
                        .descendants()
                        .filter(child -> child.info().commandLine().orElse("").contains("server.yaml"))
                        .toList(), servers -> !servers.isEmpty());
    }

    private static void assertEnd(List<ProcessHandle> children) {
        assertThat(children).isNotEmpty()
                .allSatisfy(child -> assertThat(child.onExit()).succeedsWithin(Duration.ofMinutes(1)));
    }

    private void install() throws IOException {
        Files.createDirectories(home.resolve("bin"));
        Files.copy(Path.of("..", "culvert"), home.resolve("bin/culvert"));
        home.resolve("bin/culvert").toFile().setExecutable(true);
        Files.createSymbolicLink(home.resolve("args"), DIST.resolve("args"));
        Path lib = Files.createDirectory(home.resolve("lib"));
        Files.createSymbolicLink(lib.resolve("native"), DIST.resolve("lib/native"));
        try (var jars = Files.newDirectoryStream(DIST.resolve("lib"), "*.jar")) {
            for (Path jar : jars) {
                Files.createSymbolicLink(lib.resolve(jar.getFileName()), jar);
            }
        }
    }

    private String permissions(String file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve(file)));
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

    /** What commands of the part with a cache of its own, and of the short ones, print. */
    private List<String> printed() throws IOException, InterruptedException {
        List<String> all = new ArrayList<>();
        for (String[] words : new String[][]{{"router", "--help"}, {"runtime", "--help"}, {"--help"}}) {
            Process process = builder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            all.add(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            assertThat(process.waitFor()).isZero();
        }
        return all;
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile("culvert-cache", ".log");
        Process process = builder(arguments).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        process.getOutputStream().close();
        assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
        String text = Files.readString(out, StandardCharsets.UTF_8);
        Files.delete(out);
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    private Process start(String... arguments) throws IOException {
        return builder(arguments).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private ProcessBuilder builder(String... arguments) {
        List<String> command = new ArrayList<>(
                List.of("sh", "-c", "umask 077; exec \"$@\"", "sh", home.resolve("bin/culvert").toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("CULVERT_"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return builder;
    }
}
