package dev.culvert.launcher.command;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Finding;
import dev.culvert.client.doctor.Preflight;
import dev.culvert.config.Durations;
import dev.culvert.config.SettingInfo;
import dev.culvert.http.net.EventLoops;
import dev.culvert.launcher.output.Output;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code culvert doctor}: checks the path to a server before a client uses it. */
@Command(name = "doctor", footer = {
        "",
        "Examples:", "  culvert doctor --server wss://tunnels.example.com:7443 --server-ca ca.crt",
        "  culvert doctor --config client.yaml --idle 60s --output json"})
final class DoctorCommand extends ConfiguredCommand {
    private static final Set<String> FLAGS = Set.of("server", "serverCa", "extraCa", "proxy.url",
            "proxy.passwordFile", "proxy.noProxy", "enrolmentTokenFile", "identityDir");
    private static final Duration LONGEST = Duration.ofHours(1);

    @Option(names = "--idle", paramLabel = "DURATION", defaultValue = "15s", description = "How long a silent connection is watched at most, 0s for not at all; the server may close it sooner. Default: ${DEFAULT-VALUE}.")
    private String idle = "";

    @Mixin
    private final OutputOption output = new OutputOption();

    DoctorCommand() {
        super(ClientConfig.class);
    }

    @Override
    public boolean takes(SettingInfo setting) {
        return FLAGS.contains(setting.key());
    }

    @Override
    public Mono<Integer> run() {
        return Mono.defer(() -> {
            Duration bound = bound(idle);
            Output form = output.form();
            ClientConfig config = binding().value(ClientConfig.class);
            return Mono.usingWhen(Mono.fromSupplier(() -> EventLoops.create(1)),
                    loops -> Flux.fromIterable(config.server())
                            .concatMap(
                                    server -> checked(new Preflight(config, loops, Clock.systemUTC()), server,
                                            bound, form))
                            .collectList()
                            .map(all -> all.contains(Finding.Result.FAILED)
                                    ? ExitCode.FAILED
                                    : ExitCode.DONE),
                    loops -> loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)));
        });
    }

    private static Flux<Finding.Result> checked(Preflight preflight, URI server, Duration idle,
            Output form) {
        if (form != Output.table) {
            return preflight.check(server, idle)
                    .collectList()
                    .doOnNext(findings -> System.out.println(document(form, json(server, findings))))
                    .flatMapIterable(findings -> findings)
                    .map(Finding::result);
        }
        return Flux.defer(() -> {
            System.out.println(server);
            return preflight.check(server, idle).doOnNext(DoctorCommand::print).map(Finding::result);
        });
    }

    private static void print(Finding finding) {
        System.out.printf("  %-6s  %-9s  %s%n", result(finding), finding.check(), finding.detail());
        if (finding.advice() != null) {
            System.out.printf("  %-6s  %-9s  to do: %s%n", "", "", finding.advice());
        }
    }

    /** One of several: a line of JSON, or a document of a YAML stream. */
    private static String document(Output form, String json) {
        return (form == Output.yaml ? "---\n" : "") + form.text(json, () -> json);
    }

    private static String json(URI server, List<Finding> findings) {
        ObjectNode document = new JsonMapper().createObjectNode();
        document.put("server", server.toString());
        var checks = document.putArray("checks");
        for (Finding finding : findings) {
            checks.addObject()
                    .put("check", finding.check())
                    .put("result", result(finding))
                    .put("detail", finding.detail())
                    .put("advice", finding.advice());
        }
        return document.toString();
    }

    private static String result(Finding finding) {
        return finding.result().name().toLowerCase(Locale.ROOT);
    }

    private static Duration bound(String text) {
        Duration bound = Durations.parse(text, 6, ChronoUnit.SECONDS, ChronoUnit.DAYS);
        if (bound != null && bound.compareTo(LONGEST) <= 0) {
            return bound;
        }
        throw new CommandException(ExitCode.USAGE,
                "--idle: " + text + " (expected: a duration as 15s or 5m, 1h at most)");
    }
}
