package dev.culvert.launcher.command;

import dev.culvert.certs.CertsException;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.launcher.certs.ListenerNames;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert certs …}: the certificate authority. */
@Command(name = "certs", subcommands = {
        CertsCommand.Init.class, CertsIssueCommand.class, CertsInspectCommand.class,
        CertsRenewCommand.class}, footer = {
                "", "Example:", "  culvert certs init --dir certs --domain tunnels.example.com"})
final class CertsCommand {

    /** {@code init}. */
    @Command(name = "init", description = "Makes an authority, and the server's certificates for its edge and tunnel listeners.", footer = {
            "", "Example:", "  culvert certs init --dir certs --domain tunnels.example.com"})
    static final class Init implements Task.Reactive {
        private static final Pattern DOMAIN = Pattern
                .compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*");

        @Option(names = "--dir", paramLabel = "DIR", required = true, description = "Where the files go; made when absent.")
        private Path dir = Path.of("");

        @Option(names = "--domain", paramLabel = "DOMAIN", required = true, description = "The edge's domain, as in edge.domain.")
        private String domain = "";

        @Option(names = "--permit", paramLabel = "NAME", arity = "1", description = {
                "The authority may sign certificates for DOMAIN, localhost, 127.0.0.1 and this domain (with all below) or address, and no others; may be repeated.",
                "Default: for every name."})
        private List<String> permit = List.of();

        @Override
        public Mono<Integer> run() {
            return Mono.fromCallable(() -> {
                String name = domain.toLowerCase(Locale.ROOT);
                if (name.length() > 189 || !DOMAIN.matcher(name).matches()) {
                    throw new CommandException(ExitCode.USAGE,
                            "--domain: " + domain + " (expected: a DNS name, as tunnels.example.com)");
                }
                try {
                    new CertsFolder(dir).init(name, permit.isEmpty() ? null : permitted());
                } catch (CertsException e) {
                    throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()));
                }
                System.out.println(summary(name));
                return ExitCode.DONE;
            });
        }

        private ListenerNames permitted() {
            ListenerNames names = ListenerNames.of(permit);
            for (String each : names.dns()) {
                if (each.startsWith("*.")) {
                    throw new CertsException(
                            "--permit: " + each + " (expected: " + each.substring(2)
                                    + ", which means all below, too)");
                }
            }
            return names;
        }

        private String summary(String name) {
            return "Wrote to " + dir
                    + ":\n  ca.crt, ca.key          the authority; give ca.crt to clients and callers\n"
                    + "  edge.crt, edge.key      for " + name + " and *." + name
                    + "\n  tunnel.crt, tunnel.key  for " + name
                    + ", localhost and 127.0.0.1\nThe keys are readable by"
                    + " their owner alone. Whoever has ca.key can pass for any runtime: keep it on the server.";
        }
    }
}
