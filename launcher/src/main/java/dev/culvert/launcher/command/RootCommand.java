package dev.culvert.launcher.command;

import dev.culvert.launcher.admin.AdminTokenCommand;
import dev.culvert.launcher.admin.AuditCommand;
import dev.culvert.launcher.admin.RuntimeCommand;
import dev.culvert.launcher.admin.WebhookCommand;
import dev.culvert.launcher.cache.CacheCommand;
import dev.culvert.launcher.expose.ConnectCommand;
import dev.culvert.launcher.expose.HttpCommand;
import dev.culvert.launcher.follow.EventsCommand;
import dev.culvert.launcher.follow.TailCommand;
import dev.culvert.launcher.platform.TriggerCommand;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The commands, in the order of the help. Their names and descriptions stand here, and not in the annotations
 * of their classes, so that the class of a command is loaded only when it was chosen: with the class of a
 * service its libraries are loaded.
 */
enum RootCommand {
    SERVER("Runs the tunnel server: edge, tunnel and admin listeners."), CONNECT(
            "Enrols once at a tunnel server, for culvert http."), HTTP(
                    "Exposes one local service at a public URL, and shows its requests."), CLIENT(
                            "Runs the tunnel client, with the request router inside or one upstream behind it."), ROUTER(
                                    "Runs the request router in its own pod, behind an ingress controller."), APP_PROXY(
                                            "Runs the App-Proxy: info and Git handlers inside the cluster."), CONTROL_PLANE(
                                                    "Runs the control plane: accounts, users, API keys, and who may do what."), DEMO(
                                                            "Runs all parts on 127.0.0.1 and prints lines to paste.",
                                                            "Certificates are made on the spot, the upstreams are real. With --check it sends traffic through every route"
                                                                    + " instead, and ends."), RUNTIME(
                                                                            "Creates, lists and shows runtimes, enrols, moves and revokes their clients, and deletes them, through the admin API."), WEBHOOK(
                                                                                    "Lists, shows, replays and purges stored webhooks; pauses their delivery."), TRIGGER(
                                                                                            "Lists and makes what starts pipelines, through the control plane: webhooks, pushes to registries, times."), ADMIN_TOKEN(
                                                                                                    "Creates, lists, rotates and deletes named tokens of the admin API, each with a role."), AUDIT(
                                                                                                            "Lists changes made through the admin API, newest first."), EVENTS(
                                                                                                                    "Shows what happens to runtimes and webhooks, from now on, until Ctrl-C."), TAIL(
                                                                                                                            "Shows requests as they end, from now on, until Ctrl-C: runtime, method, path, status, duration, cause."), CERTS(
                                                                                                                                    "Makes the certificate authority and the certificates of servers, and shows what certificates say."), DOCTOR(
                                                                                                                                            "Checks the way from here to a tunnel server: proxy, DNS, connection, TLS (and who ends it), WebSocket, clock, idle time-out.",
                                                                                                                                            "A line a check; exits with 0 when none failed, else with 1. Changes nothing, neither here nor there."), PROBE(
                                                                                                                                                    "Sends a GET to a URL and tells the status: for pods and scripts that have no other HTTP client."), CACHE(
                                                                                                                                                            "Makes the AOT caches of this installation, with which commands and parts start faster.",
                                                                                                                                                            "Parts run for a moment on 127.0.0.1 for it. To be run again after a change of the installation or of its Java run-time."), BENCH(
                                                                                                                                                                    "Compares Culvert under load with other ways to reach an upstream.");

    /** Lines. */
    private final String description;

    RootCommand(String... description) {
        this.description = String.join("\n", description);
    }

    /** {@code app-proxy}. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The command with its options and subcommands. */
    CommandLine full() {
        return described(new CommandLine(switch (this) {
            case SERVER -> new ServerCommand();
            case CONNECT -> new ConnectCommand();
            case HTTP -> new HttpCommand();
            case CLIENT -> new ClientCommand();
            case ROUTER -> new RouterCommand();
            case APP_PROXY -> new AppProxyCommand();
            case CONTROL_PLANE -> new ControlPlaneCommand();
            case DEMO -> new DemoCommand();
            case RUNTIME -> new RuntimeCommand();
            case WEBHOOK -> new WebhookCommand();
            case TRIGGER -> new TriggerCommand();
            case ADMIN_TOKEN -> new AdminTokenCommand();
            case AUDIT -> new AuditCommand();
            case EVENTS -> new EventsCommand();
            case TAIL -> new TailCommand();
            case CERTS -> new CertsCommand();
            case DOCTOR -> new DoctorCommand();
            case PROBE -> new ProbeCommand();
            case CACHE -> new CacheCommand();
            case BENCH -> new BenchCommand();
        }));
    }

    /** The command, as far as the argument behind its name needs it: to ask a client takes no client. */
    CommandLine before(String next) {
        return switch (this) {
            case CLIENT -> ClientControls.NAMES.contains(next)
                    ? described(new CommandLine(new ClientControls()))
                    : full();
            case RUNTIME -> only(RuntimeCommand.class, next);
            case WEBHOOK -> only(WebhookCommand.class, next);
            case TRIGGER -> only(TriggerCommand.class, next);
            case ADMIN_TOKEN -> only(AdminTokenCommand.class, next);
            default -> full();
        };
    }

    /** A group with one of its commands: to read the options of a dozen takes longer than to run one. */
    private CommandLine only(Class<?> group, String next) {
        Command annotation = group.getAnnotation(Command.class);
        for (Class<?> each : annotation == null ? new Class<?>[0] : annotation.subcommands()) {
            Command named = each.getAnnotation(Command.class);
            if (named != null && named.name().equals(next)) {
                return described(new CommandLine(CommandSpec.create().name(word())))
                        .addSubcommand(next, new CommandLine(each));
            }
        }
        return full();
    }

    /** The command for the help of the root and for suggestions, without its class. */
    CommandLine listed() {
        return described(new CommandLine(CommandSpec.create().name(word())));
    }

    private CommandLine described(CommandLine line) {
        line.getCommandSpec().usageMessage().description(description.split("\n", -1));
        return line;
    }
}
