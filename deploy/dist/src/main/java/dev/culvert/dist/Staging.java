package dev.culvert.dist;

import dev.culvert.launcher.command.CulvertCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import picocli.AutoComplete;

/** Completes the folder of an installation, after the jars were copied to it. Runs during the build. */
public final class Staging {
    private static final String SUMS = "SHA256SUMS";

    private final Path installation;

    private Staging(Path installation) {
        this.installation = installation;
    }

    /** Takes three arguments: the folder, the version, and the time of the build (ISO 8601). */
    public static void main(String[] args) throws IOException {
        var staging = new Staging(Path.of(args[0]));
        staging.manualPages(args[1], args[2].substring(0, "2026-11-24".length()));
        staging.completion();
        new Licences(staging.installation).write();
        staging.sums();
    }

    private void manualPages(String version, String date) throws IOException {
        Path folder = Files.createDirectories(installation.resolve("share/man/man1"));
        for (ManualPage page : ManualPage.all(CulvertCommand.commandLine()).toList()) {
            Files.writeString(folder.resolve(page.name() + ".1"), page.text(version, date));
        }
    }

    /** Zsh uses Bash's script, through its own emulation. */
    private void completion() throws IOException {
        String script = AutoComplete.bash("culvert", CulvertCommand.commandLine());
        Path bash = Files.createDirectories(installation.resolve("share/bash-completion/completions"));
        Path zsh = Files.createDirectories(installation.resolve("share/zsh/site-functions"));
        Files.writeString(bash.resolve("culvert"), script);
        Files.writeString(zsh.resolve("_culvert"),
                "#compdef culvert\nautoload -Uz bashcompinit && bashcompinit\n" + script);
    }

    /** One line for each file, as {@code sha256sum --check} reads it. */
    private void sums() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(installation)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        var sums = new StringBuilder();
        for (Path file : files) {
            String name = installation.relativize(file).toString();
            if (!name.equals(SUMS)) {
                sums.append(sum(file)).append("  ").append(name).append('\n');
            }
        }
        Files.writeString(installation.resolve(SUMS), sums, StandardCharsets.UTF_8);
    }

    private static String sum(Path file) throws IOException {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }
}
