package dev.culvert.dist;

import dev.culvert.launcher.command.CulvertCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import picocli.AutoComplete;

/** Completes the folder of an installation, after the jars were copied to it. Runs during the build. */
public final class Staging {
    private static final String SUMS = "SHA256SUMS";

    private final Path installation;

    private Staging(Path installation) {
        this.installation = installation;
    }

    /**
     * Takes four arguments: the folder, the version, the time of the build (ISO 8601), and a folder for what
     * only the package has.
     */
    public static void main(String[] args) throws IOException {
        var staging = new Staging(Path.of(args[0]));
        staging.ownJars();
        debianChangelog(Path.of(args[3]), args[1], args[2]);
        staging.manualPages(args[1], args[2].substring(0, "2026-11-24".length()));
        staging.completion();
        BillOfMaterials bill = BillOfMaterials.of(staging.installation);
        bill.write();
        new Licences(staging.installation, bill).write();
        staging.sums();
    }

    /** Maven's jars hold the modes of files, which the umask decides. */
    private void ownJars() throws IOException {
        List<Path> jars;
        try (Stream<Path> all = Files.walk(installation.resolve("lib"))) {
            jars = all.filter(file -> String.valueOf(file.getFileName()).matches("culvert-.*\\.jar"))
                    .toList();
        }
        for (Path jar : jars) {
            ReproducibleJar.rewrite(jar);
        }
    }

    private void manualPages(String version, String date) throws IOException {
        Path folder = Files.createDirectories(installation.resolve("share/man/man1"));
        for (ManualPage page : ManualPage.all(CulvertCommand.commandLine()).toList()) {
            Files.writeString(folder.resolve(page.name() + ".1"), page.text(version, date));
        }
    }

    /**
     * Zsh uses Bash's script, through its own emulation. The file runs at the first completion, and registers
     * the script for those that follow; this one is answered by what was registered.
     */
    private void completion() throws IOException {
        String script = AutoComplete.bash("culvert", CulvertCommand.commandLine());
        Path bash = Files.createDirectories(installation.resolve("share/bash-completion/completions"));
        Path zsh = Files.createDirectories(installation.resolve("share/zsh/site-functions"));
        Files.writeString(bash.resolve("culvert"), script);
        Files.writeString(zsh.resolve("_culvert"), "#compdef culvert\n" + script + """

                if [ "${_comps[culvert]}" != _culvert ]; then
                  eval "${_comps[culvert]}"
                fi
                """);
    }

    /** The changelog that a package must have; it leads to the real one. Has no time of its own. */
    private static void debianChangelog(Path folder, String version, String time) throws IOException {
        String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(OffsetDateTime.parse(time));
        String text = "culvert (" + version + ") stable; urgency=medium\n\n"
                + "  * What has changed is in CHANGELOG.md, in this folder.\n\n"
                + " -- Culvert <culvert@localhost>  " + date.replace("GMT", "+0000") + "\n";
        Path file = Files.createDirectories(folder).resolve("changelog.Debian.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
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
                sums.append(Sums.of(file)).append("  ").append(name).append('\n');
            }
        }
        Files.writeString(installation.resolve(SUMS), sums, StandardCharsets.UTF_8);
    }
}
