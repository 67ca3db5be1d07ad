package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class CulvertCommandTest {
    private static final Set<String> SHOWING = Set.of("list", "show", "status", "routes", "inspect", "audit",
            "doctor", "limits", "access", "hosts", "upstream");
    private static final Pattern URL = Pattern.compile("\\S*://\\S*");

    @TempDir
    Path folder;

    @Test
    void everyCommandShowsAnExample() {
        everyCommandShowsAnExample(CulvertCommand.commandLine());
    }

    private static void everyCommandShowsAnExample(CommandLine line) {
        String name = line.getCommandSpec().qualifiedName();
        assertThat(line.getCommandSpec().usageMessage().description()[0]).as(name).matches("[A-Z].+\\.");
        assertThat(line.getUsageMessage()).as(name).containsPattern("Examples?:\\R+  " + name);
        line.getSubcommands().values().forEach(CulvertCommandTest::everyCommandShowsAnExample);
    }

    /** They are there to be pasted. */
    @Test
    void noUrlAndNoExampleIsBrokenAcrossLines() {
        unbroken(CulvertCommand.commandLine());
    }

    private static void unbroken(CommandLine line) {
        CommandSpec spec = line.getCommandSpec();
        var texts = new ArrayList<String>();
        spec.args().forEach(each -> texts.addAll(List.of(each.description())));
        String help = line.getUsageMessage();
        assertThat(help.lines()).as(spec.qualifiedName()).contains(spec.usageMessage().footer());
        for (String text : texts) {
            URL.matcher(text)
                    .results()
                    .forEach(url -> assertThat(help.contains(url.group())).as(url.group()).isTrue());
        }
        line.getSubcommands().values().forEach(CulvertCommandTest::unbroken);
    }

    @Test
    void everyCommandTellsItsExitCodes() {
        everyCommandTellsItsExitCodes(CulvertCommand.commandLine());
    }

    private static void everyCommandTellsItsExitCodes(CommandLine line) {
        assertThat(line.getUsageMessage()).as(line.getCommandSpec().qualifiedName())
                .containsPattern("Exit codes:\\R +0 +done\\R +1 +a check failed.+\\R +64 +wrong usage\\R"
                        + " +69 +a needed server is unreachable.+\\R +78 +bad configuration");
        line.getSubcommands().values().forEach(CulvertCommandTest::everyCommandTellsItsExitCodes);
    }

    @Test
    void everyCommandThatShowsDataTakesEachFormat() {
        List<String> shows = everyCommandThatShowsDataTakesEachFormat(CulvertCommand.commandLine());

        assertThat(shows).contains("culvert runtime list", "culvert webhook show", "culvert client status",
                "culvert admin-token list", "culvert router routes", "culvert certs inspect");
    }

    private static List<String> everyCommandThatShowsDataTakesEachFormat(CommandLine line) {
        List<String> shows = new ArrayList<>();
        String name = line.getCommandSpec().qualifiedName();
        if (SHOWING.contains(line.getCommandName())) {
            shows.add(name);
            assertThat(line.getUsageMessage()).as(name).contains("--output=table|json|yaml");
        }
        line.getSubcommands()
                .values()
                .forEach(each -> shows.addAll(everyCommandThatShowsDataTakesEachFormat(each)));
        return shows;
    }

    @Test
    void helpIsAWordToo() {
        assertThat(Captured.run("help", "client", "status").out())
                .isEqualTo(Captured.run("client", "status", "--help").out())
                .contains("culvert client status");
        assertThat(Captured.run("help").out()).isEqualTo(Captured.run("--help").out());
        assertThat(
                CulvertCommand.spelledOut(new String[]{"runtime", "show", "acme/laptop", "--output", "JSON"}))
                .containsExactly("runtime", "show", "acme", "laptop", "--output", "JSON");
        assertThat(CulvertCommand.spelledOut(new String[]{"runtime", "create", "--token-file", "a/b", "c/d"}))
                .containsExactly("runtime", "create", "--token-file", "a/b", "c", "d");
        Captured unknown = Captured.run("help", "serve");
        assertThat(unknown.exitCode()).isEqualTo(64);
        assertThat(unknown.err()).contains("server");
    }

    @Test
    void theVersionNamesCommitProtocolAndJava() {
        assertThat(Captured.run("--version").out())
                .containsPattern("commit ([0-9a-f]{12,40}|unknown), protocol culvert.v1\\R")
                .contains("Java ");
    }

    /** Whatever was chosen, the help of the root and each suggestion know all commands. */
    @Test
    void theRootsHelpIsTheSameWhicheverCommandIsChosen() {
        String all = CulvertCommand.commandLine().getUsageMessage();

        for (String[] args : new String[][]{{}, {"--help"}, {"runtime", "list"}, {"client", "status"},
                {"--help", "demo"}}) {
            assertThat(CulvertCommand.commandLine(args).getUsageMessage()).isEqualTo(all);
        }
    }

    /** Whether a command is found alone, or with its neighbours. */
    @Test
    void theHelpOfACommandIsTheSameWhicheverWayItIsFound() {
        for (String group : List.of("runtime", "webhook", "admin-token", "client")) {
            CommandLine all = below(CulvertCommand.commandLine(), group);
            for (String name : all.getSubcommands().keySet()) {
                CommandLine alone = below(CulvertCommand.commandLine(new String[]{group, name}), group);

                assertThat(below(alone, name).getUsageMessage())
                        .isEqualTo(below(all, name).getUsageMessage());
            }
        }
        assertThat(Captured.run("runtime", "lst").err()).contains("mean: runtime list");
    }

    private static CommandLine below(CommandLine line, String name) {
        return Objects.requireNonNull(line.getSubcommands().get(name), name);
    }

    @Test
    void aRunningClientsCommandsAreFoundBehindOptionsOfTheClientToo() {
        for (String[] args : new String[][]{{"client", "status", "--help"},
                {"client", "--config", "x", "status", "--help"}}) {
            Captured captured = Captured.run(args);

            assertThat(captured.exitCode()).as(captured.err()).isZero();
            assertThat(captured.out()).startsWith("Usage: culvert client status");
        }
        assertThat(Captured.run("client", "--help").out()).contains("--identity-dir",
                "Asks a running client");
    }

    @Test
    void whatToPurgeIsAQuestionOfUsage() throws IOException {
        Path token = Files.writeString(folder.resolve("admin.token"), "abc\n");

        Captured captured = Captured.run("webhook", "purge", "--admin-token-file", token.toString());

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("purge: what (expected: an ID");
    }

    @Test
    void wrongUsageEndsWith64AndNamesTheNearestCommand() {
        Captured captured = Captured.run("sevrer");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("sevrer").contains("culvert server").doesNotContain("\tat ");
    }

    @Test
    void aGroupWithoutItsCommandIsWrongUsage() {
        assertThat(Captured.run("runtime").exitCode()).isEqualTo(64);
        assertThat(Captured.run().exitCode()).isEqualTo(64);
    }

    @Test
    void versionAndHelpEndWithZero() {
        assertThat(Captured.run("--version").exitCode()).isZero();
        assertThat(Captured.run("--version").out()).startsWith("culvert ");
        assertThat(Captured.run("server", "--help").exitCode()).isZero();
    }

    @Test
    void checkConfigPrintsEveryValueWithItsOrigin() throws IOException {
        Path file = Files.writeString(folder.resolve("server.yaml"),
                """
                        edge:
                          domain: tunnels.example.com
                          tls: { certificate: edge.crt, key: edge.key }
                        tunnel: { tls: { certificate: tunnel.crt, key: tunnel.key }, ca: { certificate: ca.crt, key: ca.key } }
                        """);

        Captured captured = Captured.run("server", "--config", file.toString(), "--edge-listen",
                "127.0.0.1:0",
                "--check-config");

        assertThat(captured.err()).isEmpty();
        assertThat(captured.exitCode()).isZero();
        assertThat(captured.out()).containsPattern("edge.listen: 127.0.0.1:0 +# --edge-listen")
                .containsPattern("edge.domain: tunnels.example.com +# .*server.yaml:2")
                .containsPattern("edge.tls.key: .*" + folder.getFileName() + "/edge.key +# .*server.yaml:3")
                .containsPattern("logFormat: text +# default");
    }

    @Test
    void checkConfigReportsTheMistakesAndEndsWith78() throws IOException {
        Path file = Files.writeString(folder.resolve("server.yaml"), "edge:\n  domian: x\n  listen: here\n");

        Captured captured = Captured.run("server", "--config", file.toString(), "--check-config");

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.out()).isEmpty();
        assertThat(captured.err()).contains("server.yaml:2: edge.domian: unknown key (nearest: edge.domain)")
                .contains("server.yaml:3: edge.listen: \"here\" (expected: host:port")
                .contains("tunnel.ca.key: missing")
                .doesNotContain("\tat ");
    }

    @Test
    void anUnreachableAdminApiEndsWith69() throws IOException {
        Path token = Files.writeString(folder.resolve("admin.token"), "abc\n");

        Captured captured = Captured.run("runtime", "list", "--admin", "http://127.0.0.1:1",
                "--admin-token-file",
                token.toString());

        assertThat(captured.exitCode()).isEqualTo(69);
        assertThat(captured.err()).contains("http://127.0.0.1:1")
                .doesNotContain("\tat ")
                .doesNotContain("abc");
    }

    @Test
    void theHelpListsEveryCommandOfTheScript() {
        assertThat(Captured.run("--help").out()).containsPattern("\\R  bench +Compares")
                .containsPattern("\\R  demo +Runs all parts on 127.0.0.1 and prints lines to paste\\.\\R");
    }

    @Test
    void noClassIsNamedToUsers() throws IOException {
        Path token = Files.writeString(folder.resolve("admin.token"), "abc\n");

        for (String admin : List.of("http://127.0.0.1:1", "http://nobody.invalid:1", "ht tp://x",
                "nowhere")) {
            Captured captured = Captured.run("runtime", "list", "--admin", admin, "--admin-token-file",
                    token.toString());

            assertThat(captured.exitCode()).isIn(64, 69);
            assertThat(captured.err()).startsWith("culvert: ")
                    .contains(admin)
                    .doesNotContain("Exception", "java");
        }
    }

    @Test
    void aClientWithoutServerNamesTheWaysToGiveOne() {
        Captured captured = Captured.run("client", "--to", "http://127.0.0.1:1");

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.err()).isEqualTo("culvert: server: missing (expected: 1 to 16 addresses, as"
                + " wss://tunnels.example.com:7443; set it in the file, with --server or CULVERT_SERVER)\n");
    }

    @Test
    void aWrongPortNamesTheRange() {
        assertThat(Captured.run("client", "--server", "wss://x.test:65536").err())
                .contains("port 1 to 65535");
        assertThat(Captured.run("client", "--server", "wss://x.test", "--to", "http://x.test:70000").err())
                .contains("port 1 to 65535");
        assertThat(Captured.run("client", "--health-listen", "127.0.0.1:70000").err())
                .contains("\"127.0.0.1:70000\" (expected: host:port", "port 1 to 65535, 0 for a free one");
        assertThat(Captured.run("demo", "--port-offset", "x").err())
                .startsWith("culvert: Invalid value for option '--port-offset': 'x' is no whole number\n");
    }

    @Test
    void aPortThatTheDemoNeedsIsNamedWithTheWayOut() throws IOException {
        for (int attempt = 0; attempt < 5; attempt++) {
            try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                int offset = taken.getLocalPort() - 9090;

                Captured captured = Captured.run("demo", "--port-offset", Integer.toString(offset));

                assertThat(captured.exitCode()).isEqualTo(69);
                assertThat(captured.err()).contains(" is in use: ", "--port-offset N");
                if (captured.err().contains("culvert: port " + taken.getLocalPort() + " is in use: ")) {
                    return;
                }
            } // another one of its ports was another program's
        }
        fail("in five attempts no demo found its admin port taken");
    }

    @Test
    void aMissingTokenFileIsNamed() {
        Captured captured = Captured.run("runtime", "list", "--admin-token-file", "/nowhere/token");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("/nowhere/token");
    }
}
