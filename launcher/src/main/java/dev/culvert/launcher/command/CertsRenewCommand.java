package dev.culvert.launcher.command;

import dev.culvert.certs.CertsException;
import dev.culvert.launcher.certs.AuthorityRotation;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert certs renew}: renews the listeners' certificates, or the authority step by step. */
@Command(name = "renew", description = {
        "Makes the certificates of edge and tunnel listener anew, for the names that they have.",
        "With --authority: one step of replacing the authority itself, without losing a tunnel (docs/operations.md)."}, footer = {
                "", "Examples:", "  culvert certs renew --dir certs",
                "  culvert certs renew --dir certs --authority begin"})
final class CertsRenewCommand implements Task.Reactive {
    /** The steps of a rotation. */
    enum Step {
        begin, change, finish
    }

    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "The folder that certs init wrote.")
    private Path dir = Path.of("");

    @Option(names = "--authority", paramLabel = "begin|change|finish", description = "begin: make the next authority and trust it, too; change: let it sign; finish: trust it alone.")
    private @Nullable Step authority;

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            var rotation = new AuthorityRotation(new CertsFolder(dir));
            try {
                System.out.println(done(rotation));
                return ExitCode.DONE;
            } catch (CertsException e) {
                throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()));
            }
        });
    }

    private String done(AuthorityRotation rotation) {
        Step step = authority;
        if (step == null) {
            rotation.renewListeners();
            return "Wrote new edge.crt, edge.key, tunnel.crt and tunnel.key to " + dir;
        }
        return switch (step) {
            case begin -> {
                rotation.begin();
                yield "ca.crt in " + dir
                        + " holds the present authority and the next one. Give it to callers, and to clients"
                        + " with a serverCa.\nNext, once every client has renewed its certificate (tunnel.ca.clientLife):"
                        + " certs renew --authority change";
            }
            case change -> {
                rotation.change();
                yield "The new authority signs from now on, and has issued tunnel.crt. The old one is still trusted.\n"
                        + "Next: certs renew, for edge.crt; and once every client has renewed again: certs renew --authority"
                        + " finish";
            }
            case finish -> {
                rotation.finish();
                yield "ca.crt in " + dir + " holds the new authority alone. The old one's key was removed.";
            }
        };
    }
}
