package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script at the repository's root, as users start it; runs after the module was packaged. */
class CulvertScriptIT {
    private static final Path SCRIPT = Path.of("..", "culvert").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    @Test
    void worksThroughASymbolicLinkFromAnyFolder() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("c"), SCRIPT);
        Path second = Files.createSymbolicLink(folder.resolve("d"), Path.of("c"));

        for (Path script : List.of(SCRIPT, link, second)) {
            Ended ended = run(Map.of(), script.toString(), "--version");

            assertThat(ended.err()).isEmpty();
            assertThat(ended.out()).startsWith("culvert ");
            assertThat(ended.code()).isZero();
        }
    }

    /** As the kernel does, a path through a link to a folder goes up from where that link leads to. */
    @Test
    void aRelativeLinkInALinkedFolderIsFollowed() throws Exception {
        Path deep = Files.createDirectories(folder.resolve("real/deep"));
        Path alias = Files.createSymbolicLink(folder.resolve("alias"), deep);
        Files.createSymbolicLink(folder.resolve("real/culvert"), SCRIPT);
        Files.createSymbolicLink(deep.resolve("c"), Path.of("../culvert"));

        assertThat(run(Map.of(), alias.resolve("c").toString(), "--version").out()).startsWith("culvert ");

        Files.delete(deep.resolve("c"));
        Path far = Files.createSymbolicLink(folder.resolve("real/root"), SCRIPT.getParent());
        Files.createSymbolicLink(deep.resolve("c"), Path.of("../" + far.getFileName() + "/culvert"));

        assertThat(run(Map.of(), alias.resolve("c").toString(), "--version").out()).startsWith("culvert ");
    }

    /** They are mapped from where they are: nothing is unpacked to /tmp, whose mount may forbid it. */
    @Test
    void nativeLibrariesAreThoseOfTheInstallation() throws Exception {
        assumeThat(Path.of("/lib64/ld-linux-x86-64.so.2")).exists();
        Path tmp = Files.createDirectory(folder.resolve("tmp"));
        Path log = folder.resolve("libraries.log");
        Path config = Files.writeString(folder.resolve("server.yaml"),
                """
                        edge: { domain: x.test, tls: { certificate: a, key: b } }
                        tunnel: { tls: { certificate: a, key: b }, ca: { certificate: a, key: b } }
                        dataDir: data
                        """);
        Files.writeString(folder.resolve("backup.db"), "nonsense");

        Ended ended = run(
                Map.of("CULVERT_JAVA_OPTS",
                        "-Djava.io.tmpdir=" + tmp + " -Xlog:library=info:file=" + log),
                SCRIPT.toString(), "server", "restore", "--config", config.toString(), "--from", "backup.db");

        assertThat(ended.err()).contains("backup.db");
        assertThat(Files.readString(log)).contains("lib/native/libsqlitejdbc.so",
                "lib/native/libnetty_tcnative_linux_x86_64.so");
        assertThat(tmp).isEmptyDirectory();
    }

    /** A JVM keeps the digests of signed jars in memory, and their classes out of AOT caches. */
    @Test
    void noJarOfTheClassPathIsSigned() throws Exception {
        try (var files = Files.walk(SCRIPT.resolveSibling("launcher/target/dist/lib"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".jar"))).isNotEmpty()
                    .allSatisfy(jar -> {
                        try (var file = new JarFile(jar.toFile())) {
                            assertThat(file.stream().map(JarEntry::getName))
                                    .noneMatch(name -> name.matches("META-INF/[^/]+\\.(SF|RSA|DSA|EC)"));
                        }
                    });
        }
    }

    @Test
    void argumentsArriveAsGiven() throws Exception {
        Ended ended = run(Map.of(), SCRIPT.toString(), "certs", "init", "--domain", "x.test", "--dir",
                "a folder  with spaces");

        assertThat(ended.code()).isZero();
        assertThat(folder.resolve("a folder  with spaces").resolve("ca.crt")).exists();
    }

    @Test
    void theExitCodeIsThatOfTheCommand() throws Exception {
        assertThat(run(Map.of(), SCRIPT.toString(), "nonsense").code()).isEqualTo(64);
        assertThat(run(Map.of(), SCRIPT.toString(), "server", "--edge-listen", "x").code()).isEqualTo(78);
    }

    @Test
    void optionsForTheJvmComeFromTheEnvironment() throws Exception {
        Ended ended = run(Map.of("CULVERT_JAVA_OPTS", "-XX:+UseParallelGC -Xlog:gc+init:stderr"),
                SCRIPT.toString(), "--version");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).contains("Parallel");
    }

    @Test
    void anOldJavaHomeIsPassedOver() throws Exception {
        Path old = jdk("17.0.9", "echo old; exit 1");

        Ended ended = run(Map.of("JAVA_HOME", old.toString()), SCRIPT.toString(), "--version");

        assertThat(ended.out()).startsWith("culvert ");
    }

    @Test
    void partsThatRunOnAreScheduledAsABatchUnlessToldOtherwise() throws Exception {
        assumeThat(Path.of("/usr/bin/chrt")).exists();
        String jdk = jdk("25.0.9", "chrt --pid $$").toString();
        Map<String, String> fake = Map.of("JAVA_HOME", jdk);
        Map<String, String> other = Map.of("JAVA_HOME", jdk, "CULVERT_SCHEDULING", "other");
        Map<String, String> wrong = Map.of("JAVA_HOME", jdk, "CULVERT_SCHEDULING", "fast");

        assertThat(run(fake, SCRIPT.toString(), "server").out()).contains("SCHED_BATCH");
        assertThat(run(fake, SCRIPT.toString(), "runtime", "list").out()).contains("SCHED_OTHER");
        assertThat(run(other, SCRIPT.toString(), "server").out()).contains("SCHED_OTHER");
        Ended refused = run(wrong, SCRIPT.toString(), "server");
        assertThat(refused.err()).contains("CULVERT_SCHEDULING is 'fast'; expected batch or other");
        assertThat(refused.code()).isEqualTo(78);
    }

    @Test
    void theHeapOfAPartThatRunsOnBeginsSmallUnlessItsSizeIsGiven() throws Exception {
        String jdk = jdk("25.0.9", "echo \"$@\"").toString();
        Map<String, String> fake = Map.of("JAVA_HOME", jdk);
        Map<String, String> given = Map.of("JAVA_HOME", jdk, "CULVERT_JAVA_OPTS", "-Xmx20m");

        assertThat(run(fake, SCRIPT.toString(), "server").out()).contains(" -Xms64m ");
        assertThat(run(fake, SCRIPT.toString(), "control-plane").out()).contains(" -Xms16m ");
        assertThat(run(given, SCRIPT.toString(), "server").out()).contains(" -Xmx20m ")
                .doesNotContain("-Xms");
        assertThat(run(fake, SCRIPT.toString(), "runtime", "list").out()).doesNotContain("-Xms");
    }

    @Test
    void theDemosPortsAreLookedAtBeforeMinutesAreSpentOnABuild() throws Exception {
        assumeThat(Path.of("/proc/net/tcp")).exists();
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Ended ended = run(checkout("touch called"), "tree/culvert", "demo", "--port-offset",
                    String.valueOf(taken.getLocalPort() - 9090));

            assertThat(ended.err())
                    .isEqualTo("culvert: port " + taken.getLocalPort() + " is in use: stop what"
                            + " listens there, or move all ports of the demo with --port-offset N\n");
            assertThat(ended.code()).isEqualTo(69);
            assertThat(folder.resolve("tree/called")).doesNotExist();
        }
    }

    @Test
    void theBuildShowsItsModules() throws Exception {
        Map<String, String> environment = checkout("""
                echo '[INFO] Building culvert 0.1.0      [1/2]'
                echo '[INFO] Building jar: launcher.jar'
                echo '[INFO] Building culvert-launcher 0.1.0      [2/2]'
                mkdir -p launcher/target/dist/args
                touch launcher/target/dist/args/cli.args
                """);

        Ended first = run(environment, "tree/culvert", "--version");
        Ended second = run(environment, "tree/culvert", "--version");

        assertThat(first.out()).isEqualTo("started\n");
        assertThat(first.err().lines().skip(1)).containsExactly("culvert: 1 of 2: culvert",
                "culvert: 2 of 2: culvert-launcher");
        assertThat(second.err()).isEmpty();
        assertThat(folder.resolve("tree/launcher/target/build.log")).content().contains("Building jar");
    }

    @Test
    void aBuildThatFailsShowsWhatMavenSaid() throws Exception {
        Ended ended = run(checkout("echo '[INFO] noise'; echo '[ERROR] no compiler'; exit 1"), "tree/culvert",
                "--version");

        assertThat(ended.code()).isEqualTo(69);
        assertThat(ended.err()).contains("[ERROR] no compiler\nculvert: the build failed; ")
                .doesNotContain("noise");
    }

    /** Copies the script to a tree that was never built, for a Maven that runs these lines of shell. */
    private Map<String, String> checkout(String maven) throws IOException {
        Path tree = folder.resolve("tree");
        Files.createDirectories(tree.resolve("launcher"));
        Files.createFile(tree.resolve("launcher/pom.xml"));
        Files.copy(SCRIPT, tree.resolve("culvert"), StandardCopyOption.COPY_ATTRIBUTES);
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Files.writeString(bin.resolve("mvn"), "#!/bin/sh\n" + maven + "\n").toFile().setExecutable(true);
        return Map.of("JAVA_HOME", jdk("25.0.9", "echo started").toString(), "PATH",
                bin + ":" + System.getenv("PATH"));
    }

    /** A folder like a JDK's, whose programs run a line of shell. */
    private Path jdk(String version, String line) throws IOException {
        Path jdk = folder.resolve("jdk-" + version);
        Files.createDirectories(jdk.resolve("bin"));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        for (String tool : List.of("java", "javac")) {
            Files.writeString(jdk.resolve("bin").resolve(tool), "#!/bin/sh\n" + line + "\n")
                    .toFile()
                    .setExecutable(true);
        }
        return jdk;
    }

    private record Ended(int code, String out, String err) {}

    private Ended run(Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile(folder, "out", "");
        Path err = Files.createTempFile(folder, "err", "");
        var builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("CULVERT_") || name.equals("JAVA_TOOL_OPTIONS"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        return new Ended(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }
}
