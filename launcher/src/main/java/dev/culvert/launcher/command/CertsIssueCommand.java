package dev.culvert.launcher.command;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertsException;
import dev.culvert.config.Durations;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.launcher.certs.ListenerNames;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** {@code culvert certs issue}: issues a certificate for one more listener. */
@Command(name = "issue", description = {
        "Issues a server's certificate for names and addresses of your choice, with a new key: for a custom host of the edge, another server, an internal listener.",
        "Overwrites nothing without --force."}, footer = {"", "Examples:",
                "  culvert certs issue --dir certs shop.example.com",
                "  culvert certs issue --dir certs --life 90d --out internal/router router.internal 10.0.0.5"})
final class CertsIssueCommand implements Task.Reactive {
    /** The maximum validity, which is that of the authority. */
    private static final Duration LONGEST = Duration.ofDays(3650);

    @Parameters(paramLabel = "NAME", arity = "1..*", description = "DNS names, a leading *. allowed, and IP addresses.")
    private List<String> names = List.of();

    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "The folder that certs init wrote, with ca.crt and ca.key.")
    private Path dir = Path.of("");

    @Option(names = "--out", paramLabel = "PATH", description = "Write PATH.crt and PATH.key. Default: the first name, in DIR.")
    private @Nullable Path out;

    @Option(names = "--life", paramLabel = "DURATION", description = "How long it is valid, as 90d or 12h, 3650d at most. Default: 397d.")
    private @Nullable String life;

    @Option(names = "--days", paramLabel = "NUMBER", description = "The same in days.")
    private @Nullable Integer days;

    @Option(names = "--force", description = "Replace files that are there; never an authority's.")
    private boolean force;

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            Duration wanted = life();
            try {
                ListenerNames checked = ListenerNames.of(names);
                CertificateFiles files = files();
                X509Certificate issued = new CertsFolder(dir).issue(checked, wanted, files, force);
                System.out.println(summary(files, issued, wanted));
                return ExitCode.DONE;
            } catch (CertsException e) {
                throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()));
            }
        });
    }

    private Duration life() {
        if (life != null && days != null) {
            throw new CommandException(ExitCode.USAGE,
                    "--days and --life say the same (expected: one of them)");
        }
        String given = days == null ? life : days + "d";
        Duration wanted = given == null
                ? CertsFolder.LIFE
                : Durations.parse(given, 6, ChronoUnit.SECONDS, ChronoUnit.DAYS);
        if (wanted == null || wanted.isZero() || wanted.compareTo(LONGEST) > 0) {
            throw new CommandException(ExitCode.USAGE, (days == null ? "--life: " + life : "--days: " + days)
                    + " (expected: " + (days == null ? "1s to 3650d, as 90d or 12h" : "1 to 3650") + ")");
        }
        return wanted;
    }

    private CertificateFiles files() {
        Path base = out;
        if (base == null) {
            // *.example.com gives wildcard.example.com.crt, ::1 gives --1.crt: valid names for shells and
            // file systems.
            base = dir.resolve(names.getFirst().replaceFirst("^\\*", "wildcard").replace(':', '-'));
        }
        Path name = base.getFileName();
        if (name == null || name.toString().isEmpty()) {
            throw new CommandException(ExitCode.USAGE,
                    "--out: " + base + " (expected: a path to which .crt and .key are added)");
        }
        return new CertificateFiles(base.resolveSibling(name + ".crt"), base.resolveSibling(name + ".key"));
    }

    private String summary(CertificateFiles files, X509Certificate issued, Duration wanted) {
        Instant end = issued.getNotAfter().toInstant();
        Duration left = Duration.between(Instant.now(), end);
        boolean shorter = left.plusMinutes(1).compareTo(wanted) < 0;
        Duration lives = shorter ? left : wanted;
        String note = shorter
                ? ", when its authority ends"
                : lives.compareTo(CertsFolder.LIFE.plusDays(1)) > 0
                        ? "; browsers refuse certificates that live longer than 398 days"
                        : "";
        return "Wrote " + files.certificate() + " and " + files.key() + ", for " + String.join(", ", names)
                + "\nIt ends at " + end + ", in " + Durations.rounded(lives) + note
                + ". The key is readable by its owner alone.";
    }
}
