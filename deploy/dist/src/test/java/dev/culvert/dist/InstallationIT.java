package dev.culvert.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.dist.Installation.Ended;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator unpacks works with its own run-time alone. */
class InstallationIT {
    private static final Duration WAIT = Duration.ofMinutes(3);
    private static final List<String> PARTS = List.of("server", "client", "router", "app-proxy",
            "control-plane");

    @TempDir
    private static Path folder = Path.of("");

    private static @Nullable Installation unpacked;

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        unpacked = Installation.unpack(folder);
    }

    private static Installation installation() {
        if (unpacked == null) {
            throw new IllegalStateException("nothing was unpacked");
        }
        return unpacked;
    }

    @Test
    void demoDoctorAndHarnessRunOnTheRuntime() throws IOException, InterruptedException {
        Path output = folder.resolve("demo.log");
        int offset = freeOffset();
        Process demo = installation().start(output, "demo", "--port-offset", String.valueOf(offset));
        try {
            JsonNode ready = event(output, demo);
            String ca = ready.path("ca").asText();
            Ended doctor = installation().culvert("doctor", "--server", "wss://localhost:" + (7443 + offset),
                    "--server-ca", ca);
            assertThat(doctor.code()).as(doctor.text()).isZero();
            Ended load = installation().culvert("bench", "load", "--url",
                    "https://" + ready.path("edge").asText() + "/app-proxy/api/info", "--host",
                    ready.path("host").asText(), "--callers", "2", "--duration", "4s", "--warm-up", "4s");
            assertThat(load.code()).as(load.text()).isZero();
            assertThat(demo.isAlive()).isTrue();
        } finally {
            demo.destroy();
            assertThat(demo.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
        Ended check = installation().culvert("demo", "--check", "--port-offset",
                String.valueOf(freeOffset()));
        assertThat(check.code()).as(check.text()).isZero();
    }

    @Test
    void checksumsHoldAndEachJarHasItsLicence() throws IOException, InterruptedException {
        Path home = installation().home();

        Ended sums = installation().run("sh", "-c",
                "cd '" + home + "' && sha256sum --quiet --check SHA256SUMS");

        assertThat(home.resolve("README.md")).isNotEmptyFile();
        assertThat(home.resolve("docs/install.md")).isNotEmptyFile();
        assertThat(sums.text()).isEmpty();
        assertThat(sums.code()).isZero();
        String notice = Files.readString(home.resolve("NOTICE"));
        try (Stream<Path> jars = Files.walk(home.resolve("lib"))) {
            assertThat(jars.map(jar -> String.valueOf(jar.getFileName()))
                    .filter(name -> name.endsWith(".jar") && !name.startsWith("culvert-"))
                    .map(name -> name.replaceAll("-\\d.*", ""))).isNotEmpty()
                    .allSatisfy(
                            name -> assertThat(notice).contains(":" + name + " "));
        }
        for (String text : List.of("logback/EPL-2.0.md", "logback/LGPL-2.1.txt", "jopt-simple/LICENSE.txt")) {
            assertThat(home.resolve("licenses/" + text)).isNotEmptyFile();
        }
        try (Stream<Path> texts = Files.walk(home.resolve("licenses"))) {
            assertThat(texts.map(text -> home.relativize(text).toString().replaceAll("-\\d[^/]*", "")))
                    .contains("licenses/org.eclipse.jgit/about.html", "licenses/sqlite-jdbc/LICENSE",
                            "licenses/sqlite-jdbc/LICENSE.zentus",
                            "licenses/netty-tcnative-boringssl-static/LICENSE.boringssl.txt");
        }
    }

    /** Both kinds of units are confined alike: only what names the part differs. */
    @Test
    void aUnitOfSeveralServersIsThatOfOneServer() throws IOException {
        Path units = installation().home().resolve("systemd");
        List<String> one = settings(units.resolve("culvert@.service"));
        List<String> several = settings(units.resolve("culvert-server@.service"));
        List<String> expected = one.stream()
                .map(line -> line.replace("/etc/culvert/%i.yaml", "/etc/culvert/server-NAME.yaml")
                        .replace("Culvert %i", "Culvert server NAME")
                        .replaceAll("^TimeoutStartSec=.*", "TimeoutStartSec=infinity")
                        .replace("%i", "server")
                        .replace("NAME", "%i"))
                .toList();

        assertThat(several).isEqualTo(expected);
        assertThat(several).contains("ExecStart=/usr/bin/culvert server --config /etc/culvert/server-%i.yaml",
                "StateDirectory=culvert-server", "LoadCredential=secret:/etc/culvert/secrets/server");
    }

    private static List<String> settings(Path unit) throws IOException {
        return Files.readAllLines(unit).stream().filter(line -> !line.startsWith("#")).toList();
    }

    /** Zsh runs the file at the first Tab, before anything is registered. */
    @Test
    void zshCompletesAtTheFirstTab() throws IOException, InterruptedException {
        assumeThat(Path.of("/usr/bin/zsh")).exists();
        String functions = installation().home().resolve("share/zsh/site-functions").toString();

        Ended completed = installation().run("timeout", "60", "zsh", "-f", "-c", """
                zmodload zsh/zpty
                zpty -b shell zsh -f -i
                zpty -w shell "fpath=(%s \\$fpath); autoload -Uz compinit && compinit -u -D"
                zpty -w shell "culvert() { print -r -- \\"got<\\$*>\\" }; print beg''un"
                zpty -r shell text $'*begun*'
                zpty -n -w shell $'culvert webho\\t\\n'
                zpty -r shell text $'*got<*>*'
                zpty -d shell
                print -r -- "$text"
                """.formatted(functions));

        assertThat(completed.text()).contains("got<webhook>");
        assertThat(completed.code()).as(completed.text()).isZero();
    }

    /** Each part reads its configuration, with the flags of its file and without the demo's jars. */
    @Test
    void theExamplesAreValidOnTheLeanClassPath() throws IOException, InterruptedException {
        for (String part : PARTS) {
            String example = installation().home().resolve("examples/" + part + ".yaml").toString();

            Ended checked = installation().culvert(part, "--config", example, "--check-config");

            assertThat(checked.code()).as(checked.text()).isZero();
            assertThat(checked.text()).contains(example).doesNotContain("OpenJDK");
        }
    }

    @Test
    void eachCommandHasAPageAndCompletes() throws IOException, InterruptedException {
        Path share = installation().home().resolve("share");
        String completion = Files.readString(share.resolve("bash-completion/completions/culvert"));

        for (String command : Stream
                .concat(PARTS.stream(), Stream.of("demo", "runtime create", "webhook replay",
                        "certs init", "doctor"))
                .toList()) {
            String page = "culvert-" + command.replace(' ', '-');
            assertThat(share.resolve("man/man1/" + page + ".1")).content()
                    .contains(".SH NAME\n" + page.replace("-", "\\-") + " \\- ")
                    .contains(".SH OPTIONS")
                    .doesNotContain("${");
            assertThat(completion)
                    .contains(
                            "function _picocli_culvert_" + command.replace("-", "").replace(' ', '_') + "()");
        }
        Ended parsed = installation().run("bash", "-n",
                share.resolve("bash-completion/completions/culvert").toString());
        assertThat(parsed.code()).as(parsed.text()).isZero();
    }

    @Test
    void thePackageHoldsUnitsAndKeepsItsConfiguration() throws IOException, InterruptedException {
        assumeThat(Path.of("/usr/bin/dpkg-deb")).exists();
        String deb = Installation.built("_amd64.deb").toString();

        String content = installation().run("dpkg-deb", "--contents", deb).text();
        String conffiles = installation().run("dpkg-deb", "--info", deb, "conffiles").text();
        String control = installation().run("dpkg-deb", "--field", deb).text();

        assertThat(content).contains("./usr/lib/systemd/system/culvert@.service")
                .contains("./usr/bin/culvert -> ../lib/culvert/bin/culvert")
                .contains("./usr/lib/culvert/runtime/lib/server/classes.jsa")
                .contains("./usr/share/man/man1/culvert-server.1");
        assertThat(conffiles.lines().filter(line -> !line.isBlank()))
                .containsExactlyInAnyOrderElementsOf(
                        PARTS.stream().map(part -> "/etc/culvert/" + part + ".yaml").toList());
        assertThat(content).contains("./usr/lib/systemd/system/culvert-server@.service",
                "./usr/share/zsh/vendor-completions/_culvert", "./usr/share/doc/culvert/copyright",
                "./usr/share/doc/culvert/changelog.Debian.gz",
                "./usr/lib/culvert/lib/native/libsqlitejdbc.so")
                .doesNotContain("site-functions");
        assertThat(control).contains("Depends: adduser, libc6", "Breaks: systemd (<< 250)")
                .doesNotContain("jre");
        Path tar = folder.resolve("data.tar");
        assertThat(
                installation().run("sh", "-c", "dpkg-deb --fsys-tarfile '" + deb + "' >'" + tar + "'").code())
                .isZero();
        assertThat(kinds(tar)).as("what dpkg reads: files, links, folders, long names of GNU tar")
                .isSubsetOf('0', '2', '5', 'L', 'K');
    }

    /** The kinds of the headers of a tar file. */
    private static Set<Character> kinds(Path tar) throws IOException {
        Set<Character> kinds = new HashSet<>();
        byte[] bytes = Files.readAllBytes(tar);
        for (int at = 0; bytes[at] != 0;) {
            kinds.add((char) bytes[at + 156]);
            long size = Long.parseLong(new String(bytes, at + 124, 11, StandardCharsets.US_ASCII).strip(), 8);
            at += (int) (512 + (size + 511) / 512 * 512);
        }
        return kinds;
    }

    private static JsonNode event(Path output, Process demo) {
        var ready = new AtomicReference<@Nullable JsonNode>();
        Awaitility.await("demo-ready").atMost(WAIT).until(() -> {
            String text = Files.readString(output);
            assertThat(demo.isAlive()).as(text).isTrue();
            for (String line : text.lines()
                    .filter(each -> each.startsWith("{\"event\":\"demo-ready\""))
                    .toList()) {
                ready.set(new JsonMapper().readTree(line));
            }
            return ready.get() != null;
        });
        return Objects.requireNonNull(ready.get());
    }

    /** An offset at which the demo's three ports are free. */
    private static int freeOffset() throws IOException {
        for (int offset = 1_000; offset < 40_000; offset += 97) {
            if (free(7443 + offset) && free(8443 + offset) && free(9090 + offset)) {
                return offset;
            }
        }
        throw new IOException("no free ports");
    }

    private static boolean free(int port) {
        try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
