package dev.culvert.launcher.command;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.config.Origin;
import dev.culvert.http.net.ListenException;
import dev.culvert.launcher.run.EventLine;
import dev.culvert.launcher.run.PartCommand;
import dev.culvert.launcher.run.RunningPart;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert client}. */
@Command(name = "client", subcommands = {
        ClientStatusCommand.class, ClientControlCommand.Pause.class,
        ClientControlCommand.Resume.class}, footer = {
                "", "Examples:", "  culvert client --config client.yaml",
                "  culvert client --server wss://tunnels.example.com:7443 --server-ca ca.crt \\",
                "    --enrolment-token-file token --identity-dir identity \\",
                "    --to http://127.0.0.1:3000", "  culvert client status"})
final class ClientCommand extends PartCommand {
    private static final Logger log = LoggerFactory.getLogger(ClientCommand.class);

    ClientCommand() {
        super(ClientConfig.class);
    }

    @Override
    public Mono<RunningPart> start(ConfigBinding binding) {
        ClientConfig config = binding.value(ClientConfig.class);
        Mono<TunnelClient> started = start(config);
        return started
                .onErrorResume(failure -> isDefault(binding) && isInUse(failure),
                        taken -> elsewhere(config))
                .map(client -> new RunningPart("tunnel-client", Map.of("health", client.healthAddress()),
                        client.ended(), client::stop,
                        (changed, origin) -> client.reload(changed.value(ClientConfig.class), origin)));
    }

    private static Mono<TunnelClient> start(ClientConfig config) {
        return TunnelClient.start(config, ClientCommand::tell);
    }

    private static boolean isInUse(Throwable failure) {
        return failure instanceof ListenException && String.valueOf(failure.getMessage()).contains("in use");
    }

    /** Starts a client on a free port: probably another one runs on this machine. */
    private static Mono<TunnelClient> elsewhere(ClientConfig config) {
        HostPort taken = config.health().listen();
        return start(config.with(new ClientConfig.Health(new HostPort(taken.host(), 0))))
                .doOnNext(client -> log.atWarn()
                        .addKeyValue("taken", taken)
                        .addKeyValue("ask", "culvert client status --health http://" + client.healthAddress())
                        .log("another process has the default health address, so this client took a free port"));
    }

    private static boolean isDefault(ConfigBinding binding) {
        return binding.effective()
                .stream()
                .anyMatch(entry -> entry.key().equals("health.listen")
                        && entry.origin().equals(Origin.DEFAULT));
    }

    private static void tell(ClientEvent event) {
        switch (event) {
            case ClientEvent.Connected connected -> {
                var facts = new LinkedHashMap<String, Object>();
                facts.put("runtime", connected.runtime());
                facts.put("host", connected.host());
                facts.put("generation", connected.generation());
                System.out.println(EventLine.of("connected", facts));
            }
            case ClientEvent.Waiting waiting -> {
                var facts = new LinkedHashMap<String, Object>();
                facts.put("runtime", waiting.runtime());
                facts.put("host", waiting.host());
                facts.put("owner", waiting.generation());
                facts.put("priority", waiting.priority());
                System.out.println(EventLine.of("waiting", facts));
            }
            case ClientEvent.Disconnected disconnected -> {
                // The client itself logs it.
            }
            case ClientEvent.NotConnected failed -> {
                // The same.
            }
        }
    }
}
