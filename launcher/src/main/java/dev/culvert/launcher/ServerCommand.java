package dev.culvert.launcher;

import dev.culvert.edge.config.ConfigBinding;
import dev.culvert.server.ServerConfig;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert server}. */
@Command(name = "server", description = "Runs the tunnel server: edge, tunnel and admin listeners.", footer = {
        "",
        "Example:", "  culvert server --config server.yaml --edge-domain tunnels.example.com"})
final class ServerCommand extends PartCommand {
    ServerCommand() {
        super(ServerConfig.class);
    }

    @Override
    Mono<RunningPart> start(ConfigBinding binding) {
        return Mono.error(new CommandException(ExitCode.FAILED, "the server is not part of this build"));
    }
}
